import com.azure.storage.file.share.*;
import com.azure.storage.file.share.specialized.*;
import java.io.*;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;

/** Files: create, upload in ranges, download, list, rename, lease and copy. */
public class Files {
    static final String KEY = System.getenv("KEY");

    public static void main(String[] words) throws IOException {
        // EXAMPLE
        ShareClient share = service.createShare("java");
        ShareDirectoryClient folder = share.createDirectory("folder");
        byte[] bytes = new byte[9_000_000];
        Arrays.fill(bytes, (byte) 'x');
        ShareFileClient file = folder.createFile("one", bytes.length);
        file.upload(new ByteArrayInputStream(bytes), bytes.length, null);
        require(Arrays.equals(read(file), bytes));
        require(folder.listFilesAndDirectories().stream().count() == 1);
        ShareFileClient renamed = file.rename("folder/two");
        require(!file.exists() && renamed.exists());
        ShareLeaseClient lease = new ShareLeaseClientBuilder().fileClient(renamed).buildClient();
        lease.acquireLease();
        lease.releaseLease();
        ShareFileClient copy = share.getFileClient("copy");
        copy.beginCopy(renamed.getFileUrl(), (Map<String, String>) null, Duration.ofMillis(100))
            .waitForCompletion();
        require(Arrays.equals(read(copy), bytes));
        share.delete();
    }

    static byte[] read(ShareFileClient file) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        file.download(out);
        return out.toByteArray();
    }

    static void require(boolean holds) {
        if (!holds) throw new IllegalStateException();
    }
}
