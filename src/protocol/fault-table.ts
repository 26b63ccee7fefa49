/** Status and first line of the message, as the service sends them. */
export interface FaultEntry {
  readonly status: number;
  readonly message: string;
}

/** Every error code of the services with its status and text. For a code with several texts this is
 *  the most frequent one; the functions in `faults.ts` and `FaultDetail` supply the others.
 *  Misspellings such as "specifed" are the service's, and are kept because clients compare
 *  texts. */
export const faults = {
  // Every service.
  NoAuthenticationInformation: {
    status: 401,
    message:
      "Server failed to authenticate the request. Please refer to the information in the " +
      "www-authenticate header.",
  },
  InvalidAuthenticationInfo: {
    status: 400,
    message:
      "Authentication information is not given in the correct format. Check the value of " +
      "Authorization header.",
  },
  AccountAlreadyExists: { status: 409, message: "The specified account already exists." },
  AccountBeingCreated: {
    status: 409,
    message: "The specified account is in the process of being created.",
  },
  AccountIsDisabled: { status: 403, message: "The specified account is disabled." },
  AccountProtectedFromDeletion: { status: 409, message: "The account is protected from deletion." },
  AuthenticationFailed: {
    status: 403,
    message:
      "Server failed to authenticate the request. Make sure the value of Authorization " +
      "header is formed correctly including the signature.",
  },
  ConditionHeadersNotSupported: { status: 400, message: "Condition headers are not supported." },
  ConditionNotMet: {
    status: 412,
    message: "The condition specified using HTTP conditional header(s) is not met.",
  },
  EmptyMetadataKey: {
    status: 400,
    message: "The key for one of the metadata key-value pairs is empty.",
  },
  InsufficientAccountPermissions: {
    status: 403,
    message:
      "The account being accessed does not have sufficient permissions to execute this operation.",
  },
  InternalError: {
    status: 500,
    message: "The server encountered an internal error. Please retry the request.",
  },
  InvalidHeaderValue: {
    status: 400,
    message: "The value for one of the HTTP headers is not in the correct format.",
  },
  InvalidHttpVerb: {
    status: 400,
    message: "The HTTP verb specified was not recognized by the server.",
  },
  WebContentNotFound: { status: 404, message: "The requested content does not exist." },
  ExceedsMaxBatchRequestCount: {
    status: 400,
    message: "The batch operation exceeds maximum number of allowed subrequests.",
  },
  InvalidInput: { status: 400, message: "One of the request inputs is not valid." },
  InvalidMd5: {
    status: 400,
    message:
      "The MD5 value specified in the request is invalid. The MD5 value must be 128 bits " +
      "and Base64-encoded.",
  },
  InvalidMetadata: {
    status: 400,
    message: "The metadata specified is invalid. It has characters that are not permitted.",
  },
  InvalidQueryParameterValue: {
    status: 400,
    message: "Value for one of the query parameters specified in the request URI is invalid.",
  },
  InvalidRange: {
    status: 416,
    message: "The range specified is invalid for the current size of the resource.",
  },
  InvalidResourceName: {
    status: 400,
    message: "The specifed resource name contains invalid characters.",
  },
  InvalidUri: {
    status: 400,
    message: "The requested URI does not represent any resource on the server.",
  },
  InvalidXmlDocument: { status: 400, message: "XML specified is not syntactically valid." },
  InvalidXmlNodeValue: {
    status: 400,
    message:
      "The value provided for one of the XML nodes in the request body was not in the " +
      "correct format.",
  },
  Md5Mismatch: {
    status: 400,
    message:
      "The MD5 value specified in the request did not match with the MD5 value calculated " +
      "by the server.",
  },
  MetadataTooLarge: {
    status: 400,
    message: "The size of the specified metadata exceeds the maximum size permitted.",
  },
  MissingContentLengthHeader: {
    status: 411,
    message: "The Content-Length header was not specified.",
  },
  MissingRequiredQueryParameter: {
    status: 400,
    message: "A required query parameter was not specified for this request.",
  },
  MissingRequiredHeader: { status: 400, message: "A required HTTP header was not specified." },
  MissingRequiredXmlNode: {
    status: 400,
    message: "A required XML node was not specified in the request body.",
  },
  MultipleConditionHeadersNotSupported: {
    status: 400,
    message: "Multiple condition headers are not supported.",
  },
  OperationTimedOut: {
    status: 500,
    message: "Operation could not be completed within the specified time.",
  },
  OutOfRangeInput: { status: 400, message: "One of the request inputs is out of range." },
  OutOfRangeQueryParameterValue: {
    status: 400,
    message:
      "One of the query parameters specified in the request URI is outside the permissible range.",
  },
  RequestBodyTooLarge: {
    status: 413,
    message: "The request body is too large and exceeds the maximum permissible limit.",
  },
  ResourceTypeMismatch: {
    status: 409,
    message: "The specified resource type does not match the type of the existing resource.",
  },
  RequestUrlFailedToParse: { status: 400, message: "The url in the request could not be parsed." },
  ResourceAlreadyExists: { status: 409, message: "The specified resource already exists." },
  ResourceNotFound: { status: 404, message: "The specified resource does not exist." },
  ServerBusy: {
    status: 503,
    message: "The server is currently unable to receive requests. Please retry your request.",
  },
  UnsupportedHeader: {
    status: 400,
    message: "One of the HTTP headers specified in the request is not supported.",
  },
  UnsupportedXmlNode: {
    status: 400,
    message: "One of the XML nodes specified in the request body is not supported.",
  },
  UnsupportedQueryParameter: {
    status: 400,
    message: "One of the query parameters specified in the request URI is not supported.",
  },
  UnsupportedHttpVerb: {
    status: 405,
    message: "The resource doesn't support the specified HTTP verb.",
  },
  AuthorizationFailure: {
    status: 403,
    message: "This request is not authorized to perform this operation.",
  },
  AuthorizationPermissionMismatch: {
    status: 403,
    message: "This request is not authorized to perform this operation using this permission.",
  },
  AuthorizationProtocolMismatch: {
    status: 403,
    message: "This request is not authorized to perform this operation using this protocol.",
  },
  AuthorizationSourceIPMismatch: {
    status: 403,
    message: "This request is not authorized to perform this operation using this source IP.",
  },
  AuthorizationServiceMismatch: {
    status: 403,
    message: "This request is not authorized to perform this operation using this service.",
  },
  AuthorizationResourceTypeMismatch: {
    status: 403,
    message: "This request is not authorized to perform this operation using this resource type.",
  },
  KeyBasedAuthenticationNotPermitted: {
    status: 403,
    message: "Key based authentication is not permitted on this storage account.",
  },
  CorsPreflightFailure: {
    status: 403,
    message: "CORS not enabled or no matching rule found for this request.",
  },
  UnsatisfiableCondition: {
    status: 400,
    message: "The request includes an unsatisfiable condition for this operation.",
  },
  PublicAccessNotPermitted: {
    status: 409,
    message: "Public access is not permitted on this storage account.",
  },
  Crc64Mismatch: {
    status: 400,
    message:
      "The CRC64 value specified in the request did not match with the CRC64 value " +
      "calculated by the server.",
  },
  BothCrc64AndMd5HeaderPresent: {
    status: 400,
    message: "Both x-ms-content-crc64 header and Content-MD5 header are present.",
  },
  BothCrc64AndMd5RangeHeaderPresent: {
    status: 400,
    message:
      "Both x-ms-range-get-content-crc64 header and x-ms-range-get-content-md5 header are present.",
  },
  InvalidCrc64: {
    status: 400,
    message:
      "The CRC64 value specified in the request is invalid. The CRC64 value must be 64 bits " +
      "and Base64-encoded.",
  },
  FeatureVersionMismatch: {
    status: 409,
    message: "Stored access policy contains a permission that is not supported by this version.",
  },
  // Blob service; file leases reuse the lease codes with their own noun.
  AppendPositionConditionNotMet: {
    status: 412,
    message: "The append position condition specified was not met.",
  },
  BlobAlreadyExists: { status: 409, message: "The specified blob already exists." },
  BlobImmutableDueToLegalHold: {
    status: 409,
    message:
      "This operation is not permitted as the blob is immutable due to one or more legal holds.",
  },
  BlobImmutableDueToPolicy: {
    status: 409,
    message: "This operation is not permitted as the blob is immutable due to a policy.",
  },
  BlobNotFound: { status: 404, message: "The specified blob does not exist." },
  BlobOverwritten: {
    status: 409,
    message: "The blob has been recreated since the previous snapshot was taken.",
  },
  BlobTierInadequateForContentLength: {
    status: 409,
    message: "The specified blob tier size limit cannot be less than content length.",
  },
  BlockCountExceedsLimit: {
    status: 409,
    message: "The committed block count cannot exceed the maximum limit of 50,000 blocks.",
  },
  BlockListTooLong: {
    status: 400,
    message: "The blocklist may not contain more than 50,000 blocks.",
  },
  CannotChangeToLowerTier: {
    status: 409,
    message: "A higher blob tier has already been explicitly set.",
  },
  CannotVerifyCopySource: {
    status: 500,
    message: "Could not verify the copy source within the specified time.",
  },
  ContainerAlreadyExists: { status: 409, message: "The specified container already exists." },
  ContainerBeingDeleted: { status: 409, message: "The specified container is being deleted." },
  ContainerDisabled: {
    status: 409,
    message: "The specified container has been disabled by the administrator.",
  },
  ContainerHasLegalHold: {
    status: 409,
    message: "The requested operation is not allowed as the container has one or more legal holds.",
  },
  ContainerImmutabilityPolicyLocked: {
    status: 409,
    message:
      "The requested operation is not allowed as the container has a locked immutability policy.",
  },
  ContainerNotFound: { status: 404, message: "The specified container does not exist." },
  ContentLengthLargerThanTierLimit: {
    status: 409,
    message: "The blob's content length cannot exceed its tier limit.",
  },
  CopyAcrossAccountsNotSupported: {
    status: 400,
    message: "The copy source account and destination account must be the same.",
  },
  CopyIdMismatch: {
    status: 409,
    message: "The specified copy ID did not match the copy ID for the pending copy operation.",
  },
  DirectorySasNotSupportedVersion: {
    status: 409,
    message: "Directory SAS is not supported in this version.",
  },
  IncrementalCopyBlobMismatch: {
    status: 409,
    message:
      "The specified source blob is different than the copy source of the existing " +
      "incremental copy blob.",
  },
  IncrementalCopyOfEarlierVersionSnapshotNotAllowed: {
    status: 409,
    message:
      "The specified snapshot is earlier than the last snapshot copied into the incremental " +
      "copy blob.",
  },
  IncrementalCopySourceMustBeSnapshot: {
    status: 409,
    message: "The source for incremental copy request must be a snapshot.",
  },
  InfiniteLeaseDurationRequired: {
    status: 412,
    message: "The lease ID matched, but the specified lease must be an infinite-duration lease.",
  },
  InvalidBlobOrBlock: { status: 400, message: "The specified blob or block content is invalid." },
  InvalidBlobTier: { status: 400, message: "The specified blob tier is invalid." },
  InvalidBlobType: { status: 409, message: "The blob type is invalid for this operation." },
  InvalidBlockId: {
    status: 400,
    message: "The specified block ID is invalid. The block ID must be Base64-encoded.",
  },
  InvalidBlockList: { status: 400, message: "The specified block list is invalid." },
  InvalidOperation: { status: 400, message: "Invalid operation against a blob snapshot." },
  InvalidPageRange: { status: 416, message: "The page range specified is invalid." },
  InvalidSourceBlobType: {
    status: 409,
    message: "The copy source blob type is invalid for this operation.",
  },
  InvalidSourceBlobUrl: {
    status: 409,
    message: "The source URL for incremental copy request must be valid Azure Storage blob URL.",
  },
  InvalidVersionForPageBlobOperation: {
    status: 400,
    message: "All operations on page blobs require at least version 2009-09-19.",
  },
  LeaseAlreadyPresent: { status: 409, message: "There is already a lease present." },
  LeaseAlreadyBroken: {
    status: 409,
    message: "The lease has already been broken and cannot be broken again.",
  },
  LeaseIdMismatchWithBlobOperation: {
    status: 412,
    message: "The lease ID specified did not match the lease ID for the blob.",
  },
  LeaseIdMismatchWithContainerOperation: {
    status: 412,
    message: "The lease ID specified did not match the lease ID for the container.",
  },
  LeaseIdMismatchWithLeaseOperation: {
    status: 409,
    message: "The lease ID specified did not match the lease ID for the blob.",
  },
  LeaseIdMissing: {
    status: 412,
    message: "There is currently a lease on the blob and no lease ID was specified in the request.",
  },
  LeaseIsBreakingAndCannotBeAcquired: {
    status: 409,
    message:
      "The lease ID matched, but the lease is currently in breaking state and cannot be " +
      "acquired until it is broken.",
  },
  LeaseIsBreakingAndCannotBeChanged: {
    status: 409,
    message:
      "The lease ID matched, but the lease is currently in breaking state and cannot be changed.",
  },
  LeaseIsBrokenAndCannotBeRenewed: {
    status: 409,
    message:
      "The lease ID matched, but the lease has been broken explicitly and cannot be renewed.",
  },
  LeaseLost: {
    status: 412,
    message: "A lease ID was specified, but the lease for the blob has expired.",
  },
  LeaseNotPresentWithBlobOperation: {
    status: 412,
    message: "There is currently no lease on the blob.",
  },
  LeaseNotPresentWithContainerOperation: {
    status: 412,
    message: "There is currently no lease on the container.",
  },
  LeaseNotPresentWithLeaseOperation: {
    status: 409,
    message: "There is currently no lease on the blob.",
  },
  MaxBlobSizeConditionNotMet: {
    status: 412,
    message: "The max blob size condition specified was not met.",
  },
  NoPendingCopyOperation: { status: 409, message: "There is currently no pending copy operation." },
  OperationNotAllowedOnIncrementalCopyBlob: {
    status: 409,
    message: "The specified operation is not allowed on an incremental copy blob.",
  },
  PendingCopyOperation: { status: 409, message: "There is currently a pending copy operation." },
  PreviousSnapshotCannotBeNewer: {
    status: 400,
    message:
      "The prevsnapshot query parameter value cannot be newer than snapshot query parameter value.",
  },
  PreviousSnapshotNotFound: { status: 409, message: "The previous snapshot is not found." },
  PreviousSnapshotOperationNotSupported: {
    status: 409,
    message: "Differential Get Page Ranges is not supported on the previous snapshot.",
  },
  QueryParameterSddInvalid: { status: 403, message: "Invalid sdd parameter." },
  QueryParameterSasMandatory: {
    status: 403,
    message: "The sdd parameter is mandatory in case of directory SAS. Cannot be empty.",
  },
  SequenceNumberConditionNotMet: {
    status: 412,
    message: "The sequence number condition specified was not met.",
  },
  SequenceNumberIncrementTooLarge: {
    status: 409,
    message:
      "The sequence number increment cannot be performed because it would result in " +
      "overflow of the sequence number.",
  },
  SnapshotCountExceeded: {
    status: 409,
    message: "The snapshot count against this blob has been exceeded.",
  },
  SnapshotOperationRateExceeded: {
    status: 409,
    message: "The rate of snapshot operations against this blob has been exceeded.",
  },
  SnapshotsPresent: {
    status: 409,
    message: "This operation is not permitted while the blob has snapshots.",
  },
  SourceConditionNotMet: {
    status: 412,
    message: "The source condition specified using HTTP conditional header(s) is not met.",
  },
  SystemInUse: { status: 409, message: "This blob is in use by the system." },
  TargetConditionNotMet: {
    status: 412,
    message: "The target condition specified using HTTP conditional header(s) is not met.",
  },
  UnauthorizedBlobOverwrite: {
    status: 403,
    message: "This request is not authorized to perform blob overwrites.",
  },
  BlobBeingRehydrated: {
    status: 409,
    message: "This operation is not permitted because the blob is being rehydrated.",
  },
  BlobArchived: { status: 409, message: "This operation is not permitted on an archived blob." },
  BlobNotArchived: { status: 409, message: "This blob is currently not in the archived state." },
  BlobAccessTierNotSupportedForAccountType: {
    status: 409,
    message: "The access tier is not supported for this account type.",
  },
  BlobUsesCustomerSpecifiedEncryption: {
    status: 409,
    message:
      "The blob is encrypted with customer specified encryption, but it was not provided in " +
      "the request.",
  },
  BlobDoesNotUseCustomerSpecifiedEncryption: {
    status: 409,
    message: "The blob is not encrypted with customer specified encryption.",
  },
  BlobCustomerSpecifiedEncryptionMismatch: {
    status: 409,
    message:
      "The given customer specified encryption does not match the encryption used to " +
      "encrypt the blob.",
  },
  BlobIsSealed: { status: 409, message: "The blob is sealed and its contents cannot be modified." },
  RequestForbiddenByContainerEncryptionPolicy: {
    status: 403,
    message: "The request is forbidden by the container encryption policy.",
  },
  ContainerRestoreInProgress: {
    status: 409,
    message: "The specified container is being restored.",
  },
  PermanentDeleteIsOff: {
    status: 409,
    message: "Permanent delete is not enabled for this account.",
  },
  PermanentDeleteNotEnabled: {
    status: 409,
    message: "Permanent delete is not enabled for this account, or this is not soft-deleted.",
  },
  HierarchicalNamespaceNotEnabled: {
    status: 400,
    message: "This operation is only supported on a hierarchical namespace account.",
  },
  PathConflict: {
    status: 409,
    message:
      "The specified path, or an element of the path, exists and its resource type is invalid " +
      "for this operation.",
  },
  OperationNotSupportedOnDirectory: {
    status: 409,
    message: "The requested operation is not supported on a directory.",
  },
  DirectoryIsNotEmpty: {
    status: 409,
    message: "This operation is not permitted on a non-empty directory.",
  },
  FeatureNotYetSupportedForHierarchicalNamespaceAccounts: {
    status: 409,
    message: "This feature is not yet supported for hierarchical namespace accounts.",
  },
  BlobOperationNotSupported: { status: 409, message: "Blob operation is not supported." },
  ContainerSoftDeleteNotEnabled: {
    status: 409,
    message: "Container soft delete is not enabled on this account.",
  },
  TagsTooLarge: {
    status: 400,
    message: "The tags specified exceed the maximum permissible limit.",
  },
  EmptyTagName: { status: 400, message: "The name of one of the tag key-value pairs is empty." },
  DuplicateTagNames: { status: 400, message: "The tags specified contain duplicate names." },
  InvalidTags: {
    status: 400,
    message: "The tags specified are invalid. It contains characters that are not permitted.",
  },
  BothUserTagsAndSourceTagsCopyPresentException: {
    status: 400,
    message: "x-ms-tags header must not be present with x-ms-copy-source-tag-option as COPY.",
  },
  AccessTierNotSupportedForBlobType: {
    status: 400,
    message: "The access tier is not supported for this blob type.",
  },
  OperationNotAllowedOnRootBlob: {
    status: 403,
    message: "The specified operation is not allowed on root blob.",
  },
  ImmutabilityPolicyDeleteOnLockedPolicy: {
    status: 409,
    message: "The immutability policy is locked and cannot be deleted.",
  },
  // Queue service.
  InvalidMarker: { status: 400, message: "The specified marker is invalid." },
  MessageNotFound: { status: 404, message: "The specified message does not exist." },
  MessageTooLarge: { status: 400, message: "The message exceeds the maximum allowed size." },
  PopReceiptMismatch: {
    status: 400,
    message: "The specified pop receipt did not match the pop receipt for a dequeued message.",
  },
  QueueAlreadyExists: { status: 409, message: "The specified queue already exists." },
  QueueBeingDeleted: { status: 409, message: "The specified queue is being deleted." },
  QueueDisabled: {
    status: 409,
    message: "The specified queue has been disabled by the administrator.",
  },
  QueueNotEmpty: { status: 409, message: "The specified queue is not empty." },
  QueueNotFound: { status: 404, message: "The specified queue does not exist." },
  InvalidMessageContents: {
    status: 400,
    message: "The message contents contain invalid characters.",
  },
  // Table service.
  DuplicatePropertiesSpecified: {
    status: 400,
    message: "A property is specified more than one time.",
  },
  EntityNotFound: { status: 404, message: "The specified entity does not exist." },
  EntityAlreadyExists: { status: 409, message: "The specified entity already exists." },
  EntityTooLarge: { status: 400, message: "The entity is larger than the maximum size permitted." },
  HostInformationNotPresent: {
    status: 400,
    message:
      "The required host information is not present in the request. You must send a " +
      "non-empty Host header or include the absolute URI in the request line.",
  },
  InvalidDuplicateRow: {
    status: 400,
    message:
      "The batch request contains multiple changes with same row key. An entity can appear " +
      "only once in a batch request.",
  },
  InvalidValueType: { status: 400, message: "The value specified is invalid." },
  JsonFormatNotSupported: { status: 415, message: "JSON format is not supported." },
  MethodNotAllowed: {
    status: 405,
    message: "The requested method is not allowed on the specified resource.",
  },
  NotImplemented: {
    status: 501,
    message: "The requested operation is not implemented on the specified resource.",
  },
  PropertiesNeedValue: {
    status: 400,
    message: "The values are not specified for all properties in the entity.",
  },
  PropertyNameInvalid: { status: 400, message: "The property name is invalid." },
  PropertyNameTooLong: {
    status: 400,
    message: "The property name exceeds the maximum allowed length (255).",
  },
  PropertyValueTooLarge: {
    status: 400,
    message: "The property value is larger than the maximum size permitted.",
  },
  TableAlreadyExists: { status: 409, message: "The table specified already exists." },
  TableBeingDeleted: { status: 409, message: "The specified table is being deleted." },
  TableNotFound: { status: 404, message: "The table specified does not exist." },
  TooManyProperties: {
    status: 400,
    message:
      "The entity contains more properties than allowed. Each entity can include up to 252 " +
      "properties to store data. Each entity also has 3 system properties.",
  },
  UpdateConditionNotSatisfied: {
    status: 412,
    message: "The update condition specified in the request was not satisfied.",
  },
  XMethodIncorrectCount: { status: 400, message: "More than one X-HTTP-Method is specified." },
  XMethodIncorrectValue: { status: 400, message: "The specified X-HTTP-Method is invalid." },
  XMethodNotUsingPost: {
    status: 400,
    message: "The request uses X-HTTP-Method with an HTTP verb other than POST.",
  },
  TableHasNoProperties: { status: 400, message: "The table has no properties." },
  NoTablePropertiesSpecified: { status: 400, message: "No table properties were specified." },
  CommandsInBatchActOnDifferentPartitions: {
    status: 400,
    message: "All commands in a batch must operate on same entity group.",
  },
  ContentLengthExceeded: {
    status: 400,
    message: "The content length for the requested operation has exceeded the limit.",
  },
  KeyValueTooLarge: {
    status: 400,
    message: "The key value is larger than the maximum size permitted.",
  },
  MediaTypeNotSupported: { status: 415, message: "None of the provided media types are supported" },
  AtomFormatNotSupported: { status: 415, message: "Atom format is not supported." },
  // Data Lake API.
  FilesystemNotFound: { status: 404, message: "The specified filesystem does not exist." },
  FilesystemAlreadyExists: { status: 409, message: "The specified filesystem already exists." },
  FilesystemBeingDeleted: { status: 409, message: "The specified filesystem is being deleted." },
  PathNotFound: { status: 404, message: "The specified path does not exist." },
  PathAlreadyExists: { status: 409, message: "The specified path already exists." },
  LeaseNotPresent: { status: 412, message: "There is currently no lease on the resource." },
  InvaldAccessControlList: {
    status: 400,
    message: "The access control list value is invalid.",
  },
  SetAclMissingAces: {
    status: 400,
    message: "Invalid ACL: the user, group and other entries are required.",
  },
  InvalidPermission: { status: 400, message: "The permission value is invalid." },
  InvalidPropertyName: { status: 400, message: "A property name cannot be empty." },
  InvalidFlushPosition: {
    status: 400,
    message:
      "The uploaded data is not contiguous or the position query parameter value is not equal to " +
      "the length of the file after appending the uploaded data.",
  },
  InvalidFlushOperation: {
    status: 409,
    message:
      "The resource was created or modified by the Azure Blob Service API and cannot be written " +
      "to by the Azure Data Lake Storage Service API.",
  },
  InvalidAppendOperation: {
    status: 409,
    message:
      "The resource was created or modified by the Azure Blob Service API and cannot be appended " +
      "to by the Azure Data Lake Storage Service API.",
  },
  SourcePathNotFound: {
    status: 404,
    message: "The source path for a rename operation does not exist.",
  },
  RenameDestinationParentPathNotFound: {
    status: 404,
    message: "The parent directory of the destination path does not exist.",
  },
  InvalidRenameSourcePath: {
    status: 409,
    message:
      "The source directory cannot be the same as the destination directory, nor can the " +
      "destination be a subdirectory of the source directory.",
  },
  InvalidSourceOrDestinationResourceType: {
    status: 409,
    message: "The source and destination resource type must be identical.",
  },
  InvalidSourceUri: { status: 400, message: "The source URI is invalid." },
  // File service.
  CannotDeleteFileOrDirectory: {
    status: 409,
    message: "The file or directory could not be deleted because it is in use by an SMB client.",
  },
  ClientCacheFlushDelay: {
    status: 500,
    message:
      "The specified resource state could not be flushed from an SMB client in the specified time.",
  },
  DeletePending: {
    status: 409,
    message: "The specified resource is marked for deletion by an SMB client.",
  },
  DirectoryNotEmpty: { status: 409, message: "The specified directory is not empty." },
  FileLockConflict: {
    status: 409,
    message: "A portion of the specified file is locked by an SMB client.",
  },
  InvalidFileOrDirectoryPathName: { status: 400, message: "File or directory path is too long." },
  ParentNotFound: { status: 404, message: "The specified parent path does not exist." },
  ReadOnlyAttribute: {
    status: 409,
    message: "The specified resource is read-only and cannot be modified at this time.",
  },
  ShareAlreadyExists: { status: 409, message: "The specified share already exists." },
  ShareBeingDeleted: {
    status: 409,
    message: "The specified share is being deleted. Try operation later.",
  },
  ShareDisabled: { status: 403, message: "The specified share is disabled by the administrator." },
  ShareNotFound: { status: 404, message: "The specified share does not exist." },
  SharingViolation: {
    status: 409,
    message: "The specified resource may be in use by an SMB client.",
  },
  ShareSnapshotInProgress: {
    status: 409,
    message: "Another Share Snapshot operation is in progress.",
  },
  ShareSnapshotCountExceeded: {
    status: 409,
    message: "The total number of snapshots for the share is over the limit.",
  },
  ShareSnapshotOperationNotSupported: {
    status: 400,
    message: "The operation is not supported on a share snapshot.",
  },
  ShareHasSnapshots: {
    status: 409,
    message: "The share has snapshots and the operation requires no snapshots.",
  },
  ContainerQuotaDowngradeNotAllowed: {
    status: 409,
    message:
      "Cannot downgrade quota at this moment. Please check share properties for the next " +
      "allowed quota downgrade time.",
  },
  SMBDeletePending: {
    status: 409,
    message: "The specified resource is marked for deletion by an SMB client.",
  },
  ShareSizeLimitReached: {
    status: 413,
    message: "The specified share size limit has been reached.",
  },
  HandleLimitExceeded: {
    status: 400,
    message: "The number of open handles on the file has reached its limit.",
  },
  FileInvalidPermission: { status: 400, message: "The specified file permission is not valid." },
  DeleteShareWhenSnapshotLeased: {
    status: 409,
    message:
      "Unable to delete share because one or more share snapshots have active leases. " +
      "Release the share snapshot leases or delete the share with the include-leased " +
      "parameter for x-ms-delete-snapshots.",
  },
  ShareSnapshotNotFound: { status: 404, message: "The specified share snapshot was not found." },
  LeaseIdMismatchWithFileOperation: {
    status: 412,
    message: "The lease ID specified did not match the lease ID for the file.",
  },
  LeaseNotPresentWithFileOperation: {
    status: 412,
    message: "There is currently no lease on the file.",
  },
  FileShareProvisionedIopsInvalid: {
    status: 400,
    message: "The provisioned IOPS value specified for the file share is not valid.",
  },
  FileShareProvisionedBandwidthInvalid: {
    status: 400,
    message: "The provisioned bandwidth value specified for the file share is not valid.",
  },
  FileShareProvisionedStorageInvalid: {
    status: 400,
    message: "The provisioned storage value specified for the file share is not valid.",
  },
  TotalSharesCountExceedsAccountLimit: {
    status: 409,
    message: "The total number of shares exceeds the limit of the account.",
  },
} as const satisfies Readonly<Record<string, FaultEntry>>;
