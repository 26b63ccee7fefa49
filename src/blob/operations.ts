import { declareServiceProperties } from "../account/declare-service-properties.ts";
import { declarePreflight } from "../account/service-resource.ts";
import { declareUserDelegationKey } from "../account/user-delegation-key.ts";
import type { Operation } from "../operation/operation.ts";
import { appendBlock, appendBlockFromUrl, sealAppendBlob } from "./append/append-block.ts";
import { submitBatch, submitContainerBatch } from "./service/submit-batch.ts";
import { getBlockList } from "./block/get-block-list.ts";
import { putBlockList } from "./block/put-block-list.ts";
import { putBlock, putBlockFromUrl } from "./block/put-block.ts";
import {
  getContainerAcl,
  setContainerAcl,
  getContainerMetadata,
  getContainerProperties,
  setContainerMetadata,
  breakContainerLease,
  leaseContainer,
} from "./container/container-properties.ts";
import { createSession } from "./container/create-session.ts";
import {
  createContainer,
  deleteContainer,
  renameContainer,
  restoreContainer,
  restoreNoContainer,
} from "./container/container-lifecycle.ts";
import { abortCopyBlob, copyBlob } from "./copy/copy-blob.ts";
import { incrementalCopyBlob } from "./copy/incremental-copy.ts";
import { copyBlobFromUrl, putBlobFromUrl } from "./copy/from-url.ts";
import { listBlobsArrow } from "./list/list-blobs-arrow.ts";
import { listBlobs } from "./list/list-blobs.ts";
import { getPageRanges } from "./page/get-page-ranges.ts";
import { clearPages, putPage, putPageFromUrl } from "./page/put-page.ts";
import { queryBlob } from "./query/query-blob.ts";
import { getBlobMetadata, getBlobProperties, getBlob } from "./read/get-blob.ts";
import { accountInformationOperations, listContainers } from "./service/account.ts";
import { getBlobTags, setBlobTags } from "./tags/blob-tags.ts";
import { findBlobsByTags, findBlobsByTagsInContainer } from "./tags/find-blobs.ts";
import {
  deleteImmutabilityPolicy,
  setImmutabilityPolicy,
  setLegalHold,
} from "./protection/set-protection.ts";
import { setBlobTier } from "./tier/set-blob-tier.ts";
import { deleteBlob, deleteBlobPermanently, deleteBlobVersion } from "./write/delete-blob.ts";
import {
  breakBlobLease,
  leaseBlob,
  setBlobMetadata,
  setBlobProperties,
  setBlobExpiry,
} from "./write/set-blob-properties.ts";
import { createAppendBlob, createPageBlob, putBlockBlob } from "./write/put-blob.ts";
import { undeleteBlob } from "./write/undelete-blob.ts";
import { snapshotBlob } from "./write/snapshot-blob.ts";
import { getPage } from "./website/get-page.ts";

/** The list of the operations of the Blob API, to which each new operation is added. */

/** The operations from which the router of `http/` chooses. The order matters only between routes
 *  with equally many requirements: the first that matches is used. */
export const operations: readonly Operation[] = [
  declarePreflight("blob", "Preflight Blob Request"),
  declareUserDelegationKey("blob", { since: "2018-11-09" }),
  ...declareServiceProperties("blob"),
  ...accountInformationOperations,
  listContainers,
  createContainer,
  createSession,
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
