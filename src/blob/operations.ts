import { declarePreflight } from "../account/preflight.ts";
import { declareUserDelegationKey } from "../account/user-delegation-key.ts";
import type { Operation } from "../operation/operation.ts";
import { appendBlockFromUrl } from "./append/append-block-from-url.ts";
import { appendBlock } from "./append/append-block.ts";
import { createAppendBlob } from "./append/create-append-blob.ts";
import { sealAppendBlob } from "./append/seal-append-blob.ts";
import { submitBatch, submitContainerBatch } from "./service/submit-batch.ts";
import { getBlockList } from "./block/get-block-list.ts";
import { putBlockList } from "./block/put-block-list.ts";
import { putBlockFromUrl } from "./block/put-block-from-url.ts";
import { putBlock } from "./block/put-block.ts";
import { getContainerAcl, setContainerAcl } from "./container/container-acl.ts";
import { createContainer } from "./container/create-container.ts";
import { deleteContainer } from "./container/delete-container.ts";
import { getContainerMetadata } from "./container/get-container-metadata.ts";
import { getContainerProperties } from "./container/get-container-properties.ts";
import { breakContainerLease, leaseContainer } from "./container/lease-container.ts";
import { renameContainer } from "./container/rename-container.ts";
import { restoreContainer, restoreNoContainer } from "./container/restore-container.ts";
import { setContainerMetadata } from "./container/set-container-metadata.ts";
import { abortCopyBlob } from "./copy/abort-copy.ts";
import { copyBlobFromUrl } from "./copy/copy-blob-from-url.ts";
import { copyBlob } from "./copy/copy-blob.ts";
import { incrementalCopyBlob } from "./copy/incremental-copy.ts";
import { putBlobFromUrl } from "./copy/put-blob-from-url.ts";
import { listBlobsArrow } from "./list/list-blobs-arrow.ts";
import { listBlobs } from "./list/list-blobs.ts";
import { createPageBlob } from "./page/create-page-blob.ts";
import { getPageRanges } from "./page/get-page-ranges.ts";
import { putPageFromUrl } from "./page/put-page-from-url.ts";
import { clearPages, putPage } from "./page/put-page.ts";
import { queryBlob } from "./query/query-blob.ts";
import { getBlobMetadata } from "./read/get-blob-metadata.ts";
import { getBlobProperties } from "./read/get-blob-properties.ts";
import { getBlob } from "./read/get-blob.ts";
import { accountInformationOperations } from "./service/account-information.ts";
import { listContainers } from "./service/list-containers.ts";
import {
  getBlobServiceProperties,
  getBlobServiceStats,
  setBlobServiceProperties,
} from "./service/service-properties.ts";
import { deleteImmutabilityPolicy } from "./protection/set-immutability-policy.ts";
import { setImmutabilityPolicy } from "./protection/set-immutability-policy.ts";
import { setLegalHold } from "./protection/set-legal-hold.ts";
import { getBlobTags } from "./tags/get-blob-tags.ts";
import { findBlobsByTags, findBlobsByTagsInContainer } from "./tags/find-blobs.ts";
import { setBlobTags } from "./tags/set-blob-tags.ts";
import { setBlobTier } from "./tier/set-blob-tier.ts";
import { deleteBlob, deleteBlobPermanently, deleteBlobVersion } from "./write/delete-blob.ts";
import { breakBlobLease, leaseBlob } from "./write/lease-blob.ts";
import { putBlockBlob } from "./write/put-block-blob.ts";
import { setBlobMetadata } from "./write/set-blob-metadata.ts";
import { setBlobProperties } from "./write/set-blob-properties.ts";
import { setBlobExpiry } from "./write/set-blob-expiry.ts";
import { undeleteBlob } from "./write/undelete-blob.ts";
import { snapshotBlob } from "./write/snapshot-blob.ts";
import { getPage } from "./website/get-page.ts";

/** All operations of the Blob API. The order matters only between routes with equally many
 *  requirements: the first that matches is used. */
export const operations: readonly Operation[] = [
  declarePreflight("blob", "Preflight Blob Request"),
  declareUserDelegationKey("blob", { since: "2018-11-09" }),
  getBlobServiceProperties,
  setBlobServiceProperties,
  getBlobServiceStats,
  ...accountInformationOperations,
  listContainers,
  createContainer,
  getContainerProperties,
  getContainerMetadata,
  setContainerMetadata,
  getContainerAcl,
  setContainerAcl,
  deleteContainer,
  restoreContainer,
  restoreNoContainer,
  renameContainer,
  leaseContainer,
  breakContainerLease,
  listBlobs,
  listBlobsArrow,
  putBlockBlob,
  createAppendBlob,
  createPageBlob,
  appendBlock,
  appendBlockFromUrl,
  sealAppendBlob,
  putPage,
  clearPages,
  putPageFromUrl,
  getPageRanges,
  putBlobFromUrl,
  copyBlobFromUrl,
  copyBlob,
  abortCopyBlob,
  incrementalCopyBlob,
  getBlob,
  getBlobProperties,
  setBlobProperties,
  getBlobMetadata,
  setBlobMetadata,
  snapshotBlob,
  leaseBlob,
  breakBlobLease,
  deleteBlob,
  deleteBlobPermanently,
  deleteBlobVersion,
  undeleteBlob,
  setBlobExpiry,
  putBlock,
  putBlockFromUrl,
  putBlockList,
  getBlockList,
  getBlobTags,
  setBlobTags,
  findBlobsByTags,
  findBlobsByTagsInContainer,
  queryBlob,
  getPage,
  ...submitBatch,
  submitContainerBatch,
  setBlobTier,
  setImmutabilityPolicy,
  deleteImmutabilityPolicy,
  setLegalHold,
];
