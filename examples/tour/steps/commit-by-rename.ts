import { DataLakeServiceClient, StorageSharedKeyCredential } from "@azure/storage-file-datalake";
import { refusalOf, type Step } from "../tour.ts";

export const commitByRename: Step = {
  title: "Commit by rename: two writers, one wins",
  async run({ lake, name, say, check }) {
    const credential = new StorageSharedKeyCredential(lake.account, lake.key);
    const filesystem = new DataLakeServiceClient(lake.url, credential).getFileSystemClient(name);
    await filesystem.create();
    say("Two jobs write their results into directories of their own. Readers look elsewhere.");
    for (const job of ["job1", "job2"]) {
      const part = filesystem.getFileClient(`_work/${job}/part0`);
      await part.create();
      await part.append(job, 0, job.length);
      check(`${job}: not visible before the flush`, (await part.getProperties()).contentLength, 0);
      await part.flush(job.length);
    }
    const options = { destinationConditions: { ifNoneMatch: "*" } };
    const commit = (job: string) =>
      filesystem.getDirectoryClient(`_work/${job}`).move("result", options);
    say("Each renames its directory, on condition that nothing has the new path.");
    await commit("job1");
    const late = await refusalOf(commit("job2"));
    check("the second one is refused", late, "409 PathAlreadyExists");
    const read = await filesystem.getFileClient("result/part0").readToBuffer();
    check("readers see all of the first one's files", read.toString(), "job1");
    const kept = await filesystem.getFileClient("_work/job2/part0").exists();
    check("the second one's are where they were", kept, true);
    const gone = await filesystem.getDirectoryClient("_work/job1").exists();
    check("the first one's directory has only its new path", gone, false);
  },
};
