//! object_store: put, put only if absent, get, list, delete.
use futures::TryStreamExt;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::{path::Path, Error, ObjectStore, ObjectStoreExt, PutMode, PutOptions};

const KEY: &str = env!("KEY");

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // EXAMPLE
    let path = Path::from("rust/one");
    store.put(&path, "hello".into()).await?;
    let create = PutOptions::from(PutMode::Create);
    let second = store.put_opts(&path, "other".into(), create).await;
    assert!(matches!(second, Err(Error::AlreadyExists { .. })));
    assert_eq!(store.get(&path).await?.bytes().await?, "hello");
    let listed: Vec<_> = store.list(Some(&Path::from("rust"))).try_collect().await?;
    assert_eq!(listed.len(), 1);
    store.delete(&path).await?;
    Ok(())
}
