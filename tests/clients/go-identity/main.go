// DefaultAzureCredential without an account key: `writes` as a contributor, then `refused`.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/lease"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"
)

const name = "golang"

var background = context.Background()

func main() {
	credential, err := azidentity.NewDefaultAzureCredential(nil)
	must(err)
	blobs, err := azblob.NewClient(blobEndpoint(), credential, &azblob.ClientOptions{ClientOptions: local})
	must(err)
	// Refusals of a transaction are not to be retried.
	options := &aztables.ClientOptions{}
	options.Retry = policy.RetryOptions{MaxRetries: -1}
	tables, err := aztables.NewServiceClient(os.Getenv("TABLE_URL")+"/devstoreaccount1", credential, options)
	must(err)
	if os.Args[1] == "writes" {
		writes(blobs, tables)
	} else {
		refused(blobs, tables)
	}
	fmt.Println("ok")
}

// The client signs for the account that the host names, and resolves no names below localhost.
func blobEndpoint() string {
	address, err := url.Parse(os.Getenv("BLOB_URL"))
	must(err)
	return "https://devstoreaccount1.blob.localhost:" + address.Port()
}

var local = policy.ClientOptions{Transport: &http.Client{Transport: &http.Transport{
	DialContext: func(context context.Context, network, address string) (net.Conn, error) {
		_, port, err := net.SplitHostPort(address)
		must(err)
		return new(net.Dialer).DialContext(context, network, "127.0.0.1:"+port)
	},
}}}

func writes(blobs *azblob.Client, tables *aztables.ServiceClient) {
	_, err := blobs.CreateContainer(background, name, nil)
	must(err)
	must(upload(blobs, "text"))
	leased, err := lease.NewBlobClient(blockOf(blobs), nil)
	must(err)
	_, err = leased.AcquireLease(background, 15, nil)
	must(err)
	expect(412, upload(blobs, "lost"))
	_, err = leased.ReleaseLease(background, nil)
	must(err)
	_, err = tables.CreateTable(background, name, nil)
	must(err)
	table := tables.NewClient(name)
	must(transact(table, "1", "2"))
	found, err := table.GetEntity(background, "p", "2", nil)
	must(err)
	var entity aztables.EDMEntity
	must(json.Unmarshal(found.Value, &entity))
	check(entity.Properties["value"] == "2", "the entity has changed")
	link := sign(blobs)
	must(uploadTo(signed(link), "more"))
	must(os.WriteFile("sas", []byte(link), 0o600))
}

func refused(blobs *azblob.Client, tables *aztables.ServiceClient) {
	check(textOf(blockOf(blobs)) == "more", "the reader does not read")
	expect(403, upload(blobs, "none"))
	table := tables.NewClient(name)
	// The client reports the status of the whole response, which is 202.
	check(transact(table, "3") != nil, "the reader writes entities")
	_, err := table.AddEntity(background, entityOf("3"), nil)
	expect(403, err)
	link, err := os.ReadFile("sas")
	must(err)
	expect(403, uploadTo(signed(string(link)), "none"))
	check(textOf(signed(string(link))) == "more", "the signature does not read")
}

func sign(blobs *azblob.Client) string {
	start, end := time.Now().UTC().Add(-time.Minute), time.Now().UTC().Add(time.Hour)
	key, err := blobs.ServiceClient().GetUserDelegationCredential(background, service.KeyInfo{
		Start:  to.Ptr(start.Format(sas.TimeFormat)),
		Expiry: to.Ptr(end.Format(sas.TimeFormat)),
	}, nil)
	must(err)
	values := sas.BlobSignatureValues{
		Protocol:      sas.ProtocolHTTPS,
		StartTime:     start,
		ExpiryTime:    end,
		Permissions:   to.Ptr(sas.BlobPermissions{Read: true, Write: true}).String(),
		ContainerName: name,
		BlobName:      "blob",
	}
	query, err := values.SignWithUserDelegation(key)
	must(err)
	return blockOf(blobs).URL() + "?" + query.Encode()
}

func blockOf(blobs *azblob.Client) *blockblob.Client {
	return blobs.ServiceClient().NewContainerClient(name).NewBlockBlobClient("blob")
}

func signed(link string) *blockblob.Client {
	client, err := blockblob.NewClientWithNoCredential(link, &blockblob.ClientOptions{ClientOptions: local})
	must(err)
	return client
}

func upload(blobs *azblob.Client, text string) error {
	return uploadTo(blockOf(blobs), text)
}

func uploadTo(client *blockblob.Client, text string) error {
	_, err := client.UploadBuffer(background, []byte(text), nil)
	return err
}

func textOf(client *blockblob.Client) string {
	buffer := make([]byte, 4)
	_, err := client.DownloadBuffer(background, buffer, &blob.DownloadBufferOptions{})
	must(err)
	return string(buffer)
}

func transact(table *aztables.Client, rows ...string) error {
	var actions []aztables.TransactionAction
	for _, row := range rows {
		actions = append(actions, aztables.TransactionAction{
			ActionType: aztables.TransactionTypeAdd,
			Entity:     entityOf(row),
		})
	}
	_, err := table.SubmitTransaction(background, actions, nil)
	return err
}

func entityOf(row string) []byte {
	entity, err := json.Marshal(aztables.EDMEntity{
		Entity:     aztables.Entity{PartitionKey: "p", RowKey: row},
		Properties: map[string]any{"value": row},
	})
	must(err)
	return entity
}

func expect(status int, err error) {
	var response *azcore.ResponseError
	if !errors.As(err, &response) || response.StatusCode != status {
		log.Fatalf("%d was expected: %v", status, err)
	}
}

func check(holds bool, problem string) {
	if !holds {
		log.Fatal(problem)
	}
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
