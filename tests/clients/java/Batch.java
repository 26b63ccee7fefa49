import com.azure.core.http.rest.Response;
import com.azure.core.util.BinaryData;
import com.azure.storage.blob.*;
import com.azure.storage.blob.batch.*;
import com.azure.storage.blob.models.*;
import java.util.*;

/** Blob batches: by URL and by name, of the account and of a container, with a failing part. */
public class Batch {
    public static void main(String[] words) {
        BlobServiceClient service = new BlobServiceClientBuilder()
            .connectionString(System.getenv("CONNECTION_STRING")).buildClient();
        BlobContainerClient container = service.createBlobContainer("batch");
        BlobBatchClient batches = new BlobBatchClientBuilder(service).buildClient();
        List<String> urls = fill(container);
        batches.setBlobsAccessTier(urls, AccessTier.COOL).forEach(Batch::requireSuccess);
        batches.deleteBlobs(urls, DeleteSnapshotsOptionType.INCLUDE).forEach(Batch::requireSuccess);

        fill(container);
        BlobBatch batch = batches.getBlobBatch();
        Response<Void> deleted = batch.deleteBlob("batch", "two");
        Response<Void> missing = batch.deleteBlob("batch", "none");
        batches.submitBatchWithResponse(batch, false, null, null);
        requireSuccess(deleted);
        try {
            missing.getStatusCode();
            throw new IllegalStateException("a missing blob was deleted");
        } catch (BlobStorageException error) {
            if (error.getErrorCode() != BlobErrorCode.BLOB_NOT_FOUND) throw error;
        }

        BlobBatchClient inside = new BlobBatchClientBuilder(container).buildClient();
        inside.deleteBlobs(fill(container), null).forEach(Batch::requireSuccess);
        if (container.listBlobs().stream().findAny().isPresent()) throw new IllegalStateException();
    }

    static List<String> fill(BlobContainerClient container) {
        List<String> urls = new ArrayList<>();
        for (String name : List.of("one", "two", "folder/with space")) {
            BlobClient blob = container.getBlobClient(name);
            blob.upload(BinaryData.fromString(name), true);
            urls.add(blob.getBlobUrl());
        }
        return urls;
    }

    static void requireSuccess(Response<Void> response) {
        if (response.getStatusCode() / 100 != 2) throw new IllegalStateException();
    }
}
