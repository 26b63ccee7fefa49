import java.io.*;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.*;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.*;
import org.apache.hadoop.fs.permission.*;

/** Hadoop's file system on a hierarchical account: what jobs and their committers do. */
public class Lake {
    static final String person = "11111111-2222-3333-4444-555555555555";

    public static void main(String[] words) throws Exception {
        Configuration settings = new Configuration();
        settings.setBoolean("fs.azure.createRemoteFileSystemDuringInitialization", true);
        for (String name : words) settings.setBoolean(name, true);
        URI root = URI.create("abfs://" + System.getenv("FILESYSTEM") + "/");
        try (FileSystem files = FileSystem.newInstance(root, settings)) {
            writeAndRead(files);
            rename(files);
            setAccess(files);
            list(files);
            setAttributes(files);
            require(files.delete(new Path("/"), true), "empty the root directory");
            require(files.listStatus(new Path("/")).length == 0, "nothing is left");
        }
    }

    static void writeAndRead(FileSystem files) throws IOException {
        Path path = new Path("/dir/sub/file");
        try (FSDataOutputStream out = files.create(path, false)) {
            out.write("one ".getBytes());
            require(files.getFileStatus(path).getLen() == 0, "written data is not visible");
            out.hflush();
            require(read(files, path).equals("one "), "flushed data is visible");
            out.write("two".getBytes());
            out.hsync();
        }
        requireFailure(() -> files.create(path, false).close(), FileAlreadyExistsException.class);
        try (FSDataOutputStream out = files.append(path)) {
            out.write(" three".getBytes());
        }
        require(read(files, path).equals("one two three"), "appended data");
        try (FSDataOutputStream out = files.create(path, true)) {
            out.write("new".getBytes());
        }
        require(read(files, path).equals("new"), "the file is replaced");
        byte[] large = new byte[20_000_000];
        new Random(1).nextBytes(large);
        try (FSDataOutputStream out = files.create(new Path("/large"))) {
            out.write(large);
        }
        byte[] found = new byte[large.length];
        try (FSDataInputStream in = files.open(new Path("/large"))) {
            in.readFully(0, found);
        }
        require(Arrays.equals(large, found), "a large file");
        require(files.getFileStatus(new Path("/")).isDirectory(), "the root directory");
        requireFailure(() -> files.open(new Path("/none")), FileNotFoundException.class);
        requireFailure(() -> files.mkdirs(new Path(path, "below")), IOException.class);
    }

    /** A job's committer moves what its tasks wrote. */
    static void rename(FileSystem files) throws IOException {
        write(files, "/job/_temporary/task/part-0", "data");
        require(files.rename(new Path("/job/_temporary/task"), new Path("/job/done")), "rename");
        require(read(files, new Path("/job/done/part-0")).equals("data"), "moved with its entries");
        require(!files.exists(new Path("/job/_temporary/task")), "the source is gone");
        require(files.rename(new Path("/job/done/part-0"), new Path("/job")), "into a directory");
        require(files.exists(new Path("/job/part-0")), "under its own name");
        write(files, "/job/other", "other");
        require(!files.rename(new Path("/job/part-0"), new Path("/job/other")), "over a file");
        require(!files.rename(new Path("/job/none"), new Path("/job/x")), "of nothing");
        require(!files.rename(new Path("/job"), new Path("/job/done/x")), "into itself");
        require(!files.rename(new Path("/job/other"), new Path("/no/parent")), "without a parent");
        require(files.delete(new Path("/job"), true), "delete");
        require(!files.delete(new Path("/job"), true), "delete again");
    }

    static void setAccess(FileSystem files) throws IOException {
        Path directory = new Path("/secret");
        files.mkdirs(directory, new FsPermission("750"));
        files.setPermission(directory, new FsPermission("770"));
        files.setOwner(directory, person, null);
        files.modifyAclEntries(directory, AclEntry.parseAclSpec(
            "user:" + person + ":r-x,default:user:" + person + ":rwx", true));
        FileStatus status = files.getFileStatus(directory);
        require(status.getOwner().equals(person), "owner");
        require(status.hasAcl(), "an extended list");
        write(files, "/secret/file", "x");
        List<AclEntry> entries = files.getAclStatus(new Path("/secret/file")).getEntries();
        require(entries.stream().anyMatch(each -> person.equals(each.getName())), "inherited");
        files.removeDefaultAcl(directory);
        files.removeAcl(directory);
        require(files.getAclStatus(directory).getEntries().isEmpty(), "no list");
    }

    static void list(FileSystem files) throws IOException {
        for (int number = 0; number < 12; number += 1) write(files, "/many/f" + number, "");
        require(files.listStatus(new Path("/many")).length == 12, "listing");
        require(files.listStatus(new Path("/many/f1")).length == 1, "listing of a file");
        RemoteIterator<LocatedFileStatus> all = files.listFiles(new Path("/"), true);
        int count = 0;
        for (; all.hasNext(); all.next()) count += 1;
        require(count == 15, "all files: " + count);
        requireFailure(() -> files.delete(new Path("/many"), false), IOException.class);
        require(files.getContentSummary(new Path("/many")).getFileCount() == 12, "summary");
    }

    static void setAttributes(FileSystem files) throws IOException {
        Path path = new Path("/large");
        byte[] value = "value".getBytes(StandardCharsets.UTF_8);
        files.setXAttr(path, "user_attribute", value);
        require(Arrays.equals(value, files.getXAttr(path, "user_attribute")), "attribute");
    }

    static void write(FileSystem files, String path, String text) throws IOException {
        try (FSDataOutputStream out = files.create(new Path(path))) {
            out.write(text.getBytes());
        }
    }

    static String read(FileSystem files, Path path) throws IOException {
        try (FSDataInputStream in = files.open(path)) {
            return new String(in.readAllBytes());
        }
    }

    interface Step {
        void run() throws IOException;
    }

    static void requireFailure(Step step, Class<? extends IOException> kind) throws IOException {
        try {
            step.run();
        } catch (IOException error) {
            if (kind.isInstance(error)) return;
            throw error;
        }
        throw new IllegalStateException("no " + kind.getSimpleName());
    }

    static void require(boolean holds, String what) {
        if (!holds) throw new IllegalStateException(what);
    }
}
