/** The table of all error codes; `faults.ts` derives codes, statuses and texts from it. */

/** Status of a fault, and the first line of its message, as Azure sends them. */
interface FaultEntry {
  readonly status: number;
  readonly message: string;
}

function withStatus<K extends string>(
  status: number,
  messages: Readonly<Record<K, string>>,
): Readonly<Record<K, FaultEntry>> {
  const entries = Object.entries<string>(messages);
  const faultsOf = entries.map(([code, message]) => [code, { status, message }]);
  return Object.fromEntries(faultsOf) as Record<K, FaultEntry>;
}

/** Every error code of the services with its status and text. For a code with several texts this is
 *  the most frequent one; the functions in `faults.ts` and `FaultDetail` supply the others.
 *  Misspellings such as "specifed" are the service's, and are kept because clients compare
 *  texts. */
export const faults = {
  // Every service.
  ...withStatus(400, {
    InvalidAuthenticationInfo:
      "Authentication information is not given in the correct format. Check the value of " +
      "Authorization header.",
    ConditionHeadersNotSupported: "Condition headers are not supported.",
    EmptyMetadataKey: "The key for one of the metadata key-value pairs is empty.",
    InvalidHeaderValue: "The value for one of the HTTP headers is not in the correct format.",
    InvalidHttpVerb: "The HTTP verb specified was not recognized by the server.",
    ExceedsMaxBatchRequestCount:
      "The batch operation exceeds maximum number of allowed subrequests.",
    InvalidInput: "One of the request inputs is not valid.",
    InvalidMd5:
      "The MD5 value specified in the request is invalid. The MD5 value must be 128 bits and " +
      "Base64-encoded.",
    InvalidMetadata: "The metadata specified is invalid. It has characters that are not permitted.",
    InvalidQueryParameterValue:
      "Value for one of the query parameters specified in the request URI is invalid.",
    InvalidResourceName: "The specifed resource name contains invalid characters.",
    InvalidUri: "The requested URI does not represent any resource on the server.",
    InvalidXmlDocument: "XML specified is not syntactically valid.",
    InvalidXmlNodeValue:
      "The value provided for one of the XML nodes in the request body was not in the correct " +
      "format.",
    Md5Mismatch:
      "The MD5 value specified in the request did not match with the MD5 value calculated by the " +
      "server.",
    MetadataTooLarge: "The size of the specified metadata exceeds the maximum size permitted.",
    MissingRequiredQueryParameter: "A required query parameter was not specified for this request.",
    MissingRequiredHeader: "A required HTTP header was not specified.",
    MissingRequiredXmlNode: "A required XML node was not specified in the request body.",
    MultipleConditionHeadersNotSupported: "Multiple condition headers are not supported.",
    OutOfRangeInput: "One of the request inputs is out of range.",
    OutOfRangeQueryParameterValue:
      "One of the query parameters specified in the request URI is outside the permissible range.",
    RequestUrlFailedToParse: "The url in the request could not be parsed.",
    UnsupportedHeader: "One of the HTTP headers specified in the request is not supported.",
    UnsupportedXmlNode: "One of the XML nodes specified in the request body is not supported.",
    UnsupportedQueryParameter:
      "One of the query parameters specified in the request URI is not supported.",
    UnsatisfiableCondition: "The request includes an unsatisfiable condition for this operation.",
    Crc64Mismatch:
      "The CRC64 value specified in the request did not match with the CRC64 value calculated by " +
      "the server.",
    BothCrc64AndMd5HeaderPresent:
      "Both x-ms-content-crc64 header and Content-MD5 header are present.",
    BothCrc64AndMd5RangeHeaderPresent:
      "Both x-ms-range-get-content-crc64 header and x-ms-range-get-content-md5 header are present.",
    InvalidCrc64:
      "The CRC64 value specified in the request is invalid. The CRC64 value must be 64 bits and " +
      "Base64-encoded.",
  }),
  ...withStatus(401, {
    NoAuthenticationInformation:
      "Server failed to authenticate the request. Please refer to the information in the " +
      "www-authenticate header.",
  }),
  ...withStatus(403, {
    AccountIsDisabled: "The specified account is disabled.",
    AuthenticationFailed:
      "Server failed to authenticate the request. Make sure the value of Authorization header is " +
      "formed correctly including the signature.",
    InsufficientAccountPermissions:
      "The account being accessed does not have sufficient permissions to execute this operation.",
    AuthorizationFailure: "This request is not authorized to perform this operation.",
    AuthorizationPermissionMismatch:
      "This request is not authorized to perform this operation using this permission.",
    AuthorizationProtocolMismatch:
      "This request is not authorized to perform this operation using this protocol.",
    AuthorizationSourceIPMismatch:
      "This request is not authorized to perform this operation using this source IP.",
    AuthorizationServiceMismatch:
      "This request is not authorized to perform this operation using this service.",
    AuthorizationResourceTypeMismatch:
      "This request is not authorized to perform this operation using this resource type.",
    KeyBasedAuthenticationNotPermitted:
      "Key based authentication is not permitted on this storage account.",
    CorsPreflightFailure: "CORS not enabled or no matching rule found for this request.",
  }),
  ...withStatus(404, {
    WebContentNotFound: "The requested content does not exist.",
    ResourceNotFound: "The specified resource does not exist.",
    // No recorded response has this code; code and message are assumed.
    EncryptionScopeNotFound: "The specified encryption scope does not exist.",
  }),
  ...withStatus(405, {
    UnsupportedHttpVerb: "The resource doesn't support the specified HTTP verb.",
  }),
  ...withStatus(409, {
    AccountAlreadyExists: "The specified account already exists.",
    AccountBeingCreated: "The specified account is in the process of being created.",
    AccountProtectedFromDeletion: "The account is protected from deletion.",
    ResourceTypeMismatch:
      "The specified resource type does not match the type of the existing resource.",
    ResourceAlreadyExists: "The specified resource already exists.",
    PublicAccessNotPermitted: "Public access is not permitted on this storage account.",
    FeatureVersionMismatch:
      "Stored access policy contains a permission that is not supported by this version.",
  }),
  ...withStatus(411, {
    MissingContentLengthHeader: "The Content-Length header was not specified.",
  }),
  ...withStatus(412, {
    ConditionNotMet: "The condition specified using HTTP conditional header(s) is not met.",
  }),
  ...withStatus(413, {
    RequestBodyTooLarge: "The request body is too large and exceeds the maximum permissible limit.",
  }),
  ...withStatus(416, {
    InvalidRange: "The range specified is invalid for the current size of the resource.",
  }),
  ...withStatus(500, {
    InternalError: "The server encountered an internal error. Please retry the request.",
    OperationTimedOut: "Operation could not be completed within the specified time.",
  }),
  ...withStatus(503, {
    ServerBusy: "The server is currently unable to receive requests. Please retry your request.",
  }),
  // Blob service; file leases reuse the lease codes with their own noun.
  ...withStatus(400, {
    BlockListTooLong: "The blocklist may not contain more than 50,000 blocks.",
    CopyAcrossAccountsNotSupported:
      "The copy source account and destination account must be the same.",
    InvalidBlobOrBlock: "The specified blob or block content is invalid.",
    InvalidBlobTier: "The specified blob tier is invalid.",
    InvalidBlockId: "The specified block ID is invalid. The block ID must be Base64-encoded.",
    InvalidBlockList: "The specified block list is invalid.",
    InvalidOperation: "Invalid operation against a blob snapshot.",
    InvalidVersionForPageBlobOperation:
      "All operations on page blobs require at least version 2009-09-19.",
    PreviousSnapshotCannotBeNewer:
      "The prevsnapshot query parameter value cannot be newer than snapshot query parameter value.",
    HierarchicalNamespaceNotEnabled:
      "This operation is only supported on a hierarchical namespace account.",
    ExpiryNotSupportedForDirectory: "Set Expiry is not supported for a directory",
    PathIsTooDeep: "The specified path has more directories than a path may have.",
    TagsTooLarge: "The tags specified exceed the maximum permissible limit.",
    EmptyTagName: "The name of one of the tag key-value pairs is empty.",
    DuplicateTagNames: "The tags specified contain duplicate names.",
    InvalidTags: "The tags specified are invalid. It contains characters that are not permitted.",
    BothUserTagsAndSourceTagsCopyPresentException:
      "x-ms-tags header must not be present with x-ms-copy-source-tag-option as COPY.",
    AccessTierNotSupportedForBlobType: "The access tier is not supported for this blob type.",
  }),
  ...withStatus(403, {
    QueryParameterSddInvalid: "Invalid sdd parameter.",
    QueryParameterSasMandatory:
      "The sdd parameter is mandatory in case of directory SAS. Cannot be empty.",
    UnauthorizedBlobOverwrite: "This request is not authorized to perform blob overwrites.",
    RequestForbiddenByContainerEncryptionPolicy:
      "The request is forbidden by the container encryption policy.",
    OperationNotAllowedOnRootBlob: "The specified operation is not allowed on root blob.",
  }),
  ...withStatus(404, {
    BlobNotFound: "The specified blob does not exist.",
    ContainerNotFound: "The specified container does not exist.",
  }),
  ...withStatus(409, {
    BlobAlreadyExists: "The specified blob already exists.",
    BlobImmutableDueToLegalHold:
      "This operation is not permitted as the blob is immutable due to one or more legal holds.",
    BlobImmutableDueToPolicy:
      "This operation is not permitted as the blob is immutable due to a policy.",
    BlobOverwritten: "The blob has been recreated since the previous snapshot was taken.",
    BlobTierInadequateForContentLength:
      "The specified blob tier size limit cannot be less than content length.",
    BlockCountExceedsLimit:
      "The committed block count cannot exceed the maximum limit of 50,000 blocks.",
    CannotChangeToLowerTier: "A higher blob tier has already been explicitly set.",
    ContainerAlreadyExists: "The specified container already exists.",
    ContainerBeingDeleted: "The specified container is being deleted.",
    ContainerDisabled: "The specified container has been disabled by the administrator.",
    ContainerHasLegalHold:
      "The requested operation is not allowed as the container has one or more legal holds.",
    ContainerImmutabilityPolicyLocked:
      "The requested operation is not allowed as the container has a locked immutability policy.",
    ContentLengthLargerThanTierLimit: "The blob's content length cannot exceed its tier limit.",
    CopyIdMismatch:
      "The specified copy ID did not match the copy ID for the pending copy operation.",
    DirectorySasNotSupportedVersion: "Directory SAS is not supported in this version.",
    IncrementalCopyBlobMismatch:
      "The specified source blob is different than the copy source of the existing incremental " +
      "copy blob.",
    IncrementalCopyOfEarlierSnapshotNotAllowed:
      "The specified snapshot is earlier than the last snapshot copied into the incremental copy " +
      "blob.",
    IncrementalCopySourceMustBeSnapshot:
      "The source for incremental copy request must be a snapshot.",
    InvalidBlobType: "The blob type is invalid for this operation.",
    InvalidSourceBlobType: "The copy source blob type is invalid for this operation.",
    InvalidSourceBlobUrl:
      "The source URL for incremental copy request must be valid Azure Storage blob URL.",
    LeaseAlreadyPresent: "There is already a lease present.",
    LeaseAlreadyBroken: "The lease has already been broken and cannot be broken again.",
    LeaseIdMismatchWithLeaseOperation:
      "The lease ID specified did not match the lease ID for the blob.",
    LeaseIsBreakingAndCannotBeAcquired:
      "The lease ID matched, but the lease is currently in breaking state and cannot be acquired " +
      "until it is broken.",
    LeaseIsBreakingAndCannotBeChanged:
      "The lease ID matched, but the lease is currently in breaking state and cannot be changed.",
    LeaseIsBrokenAndCannotBeRenewed:
      "The lease ID matched, but the lease has been broken explicitly and cannot be renewed.",
    LeaseNotPresentWithLeaseOperation: "There is currently no lease on the blob.",
    NoPendingCopyOperation: "There is currently no pending copy operation.",
    OperationNotAllowedOnIncrementalCopyBlob:
      "The specified operation is not allowed on an incremental copy blob.",
    PendingCopyOperation: "There is currently a pending copy operation.",
    PreviousSnapshotNotFound: "The previous snapshot is not found.",
    PreviousSnapshotOperationNotSupported:
      "Differential Get Page Ranges is not supported on the previous snapshot.",
    SequenceNumberIncrementTooLarge:
      "The sequence number increment cannot be performed because it would result in overflow of " +
      "the sequence number.",
    SnapshotCountExceeded: "The snapshot count against this blob has been exceeded.",
    SnapshotOperationRateExceeded:
      "The rate of snapshot operations against this blob has been exceeded.",
    SnapshotsPresent: "This operation is not permitted while the blob has snapshots.",
    SystemInUse: "This blob is in use by the system.",
    BlobBeingRehydrated: "This operation is not permitted because the blob is being rehydrated.",
    BlobArchived: "This operation is not permitted on an archived blob.",
    BlobNotArchived: "This blob is currently not in the archived state.",
    BlobAccessTierNotSupportedForAccountType:
      "The access tier is not supported for this account type.",
    BlobUsesCustomerSpecifiedEncryption:
      "The blob is encrypted with customer specified encryption, but it was not provided in the " +
      "request.",
    BlobDoesNotUseCustomerSpecifiedEncryption:
      "The blob is not encrypted with customer specified encryption.",
    BlobCustomerSpecifiedEncryptionMismatch:
      "The given customer specified encryption does not match the encryption used to encrypt the " +
      "blob.",
    BlobIsSealed: "The blob is sealed and its contents cannot be modified.",
    ContainerRestoreInProgress: "The specified container is being restored.",
    PermanentDeleteIsOff: "Permanent delete is not enabled for this account.",
    PermanentDeleteNotEnabled:
      "Permanent delete is not enabled for this account, or this is not soft-deleted.",
    PathConflict:
      "The specified path, or an element of the path, exists and its resource type is invalid " +
      "for this operation.",
    OperationNotSupportedOnDirectory: "The requested operation is not supported on a directory.",
    DirectoryIsNotEmpty: "This operation is not permitted on a non-empty directory.",
    FeatureNotYetSupportedForHierarchicalNamespaceAccounts:
      "This feature is not yet supported for hierarchical namespace accounts.",
    BlobOperationNotSupported: "Blob operation is not supported.",
    ContainerSoftDeleteNotEnabled: "Container soft delete is not enabled on this account.",
    ImmutabilityPolicyDeleteOnLockedPolicy:
      "The immutability policy is locked and cannot be deleted.",
  }),
  ...withStatus(412, {
    AccessTierChangeTimeConditionNotMet:
      "The condition specified using the access tier change time conditional header(s) is not met.",
    AppendPositionConditionNotMet: "The append position condition specified was not met.",
    InfiniteLeaseDurationRequired:
      "The lease ID matched, but the specified lease must be an infinite-duration lease.",
    LeaseIdMismatchWithBlobOperation:
      "The lease ID specified did not match the lease ID for the blob.",
    LeaseIdMismatchWithContainerOperation:
      "The lease ID specified did not match the lease ID for the container.",
    LeaseIdMissing:
      "There is currently a lease on the blob and no lease ID was specified in the request.",
    LeaseLost: "A lease ID was specified, but the lease for the blob has expired.",
    LeaseNotPresentWithBlobOperation: "There is currently no lease on the blob.",
    LeaseNotPresentWithContainerOperation: "There is currently no lease on the container.",
    MaxBlobSizeConditionNotMet: "The max blob size condition specified was not met.",
    SequenceNumberConditionNotMet: "The sequence number condition specified was not met.",
    SourceConditionNotMet:
      "The source condition specified using HTTP conditional header(s) is not met.",
    TargetConditionNotMet:
      "The target condition specified using HTTP conditional header(s) is not met.",
  }),
  ...withStatus(416, {
    InvalidPageRange: "The page range specified is invalid.",
  }),
  ...withStatus(500, {
    CannotVerifyCopySource: "Could not verify the copy source within the specified time.",
  }),
  // Queue service.
  ...withStatus(400, {
    InvalidMarker: "The specified marker is invalid.",
    MessageTooLarge: "The message exceeds the maximum allowed size.",
    PopReceiptMismatch:
      "The specified pop receipt did not match the pop receipt for a dequeued message.",
    InvalidMessageContents: "The message contents contain invalid characters.",
  }),
  ...withStatus(404, {
    MessageNotFound: "The specified message does not exist.",
    QueueNotFound: "The specified queue does not exist.",
  }),
  ...withStatus(409, {
    QueueAlreadyExists: "The specified queue already exists.",
    QueueBeingDeleted: "The specified queue is being deleted.",
    QueueDisabled: "The specified queue has been disabled by the administrator.",
    QueueNotEmpty: "The specified queue is not empty.",
  }),
  // Table service.
  ...withStatus(400, {
    DuplicatePropertiesSpecified: "A property is specified more than one time.",
    EntityTooLarge: "The entity is larger than the maximum size permitted.",
    HostInformationNotPresent:
      "The required host information is not present in the request. You must send a non-empty " +
      "Host header or include the absolute URI in the request line.",
    InvalidDuplicateRow:
      "The batch request contains multiple changes with same row key. An entity can appear only " +
      "once in a batch request.",
    InvalidValueType: "The value specified is invalid.",
    PropertiesNeedValue: "The values are not specified for all properties in the entity.",
    PropertyNameInvalid: "The property name is invalid.",
    PropertyNameTooLong: "The property name exceeds the maximum allowed length (255).",
    PropertyValueTooLarge: "The property value is larger than the maximum size permitted.",
    TooManyProperties:
      "The entity contains more properties than allowed. Each entity can include up to 252 " +
      "properties to store data. Each entity also has 3 system properties.",
    XMethodIncorrectCount: "More than one X-HTTP-Method is specified.",
    XMethodIncorrectValue: "The specified X-HTTP-Method is invalid.",
    XMethodNotUsingPost: "The request uses X-HTTP-Method with an HTTP verb other than POST.",
    TableHasNoProperties: "The table has no properties.",
    NoTablePropertiesSpecified: "No table properties were specified.",
    CommandsInBatchActOnDifferentPartitions:
      "All commands in a batch must operate on same entity group.",
    ContentLengthExceeded: "The content length for the requested operation has exceeded the limit.",
    KeyValueTooLarge: "The key value is larger than the maximum size permitted.",
  }),
  ...withStatus(404, {
    EntityNotFound: "The specified entity does not exist.",
    TableNotFound: "The table specified does not exist.",
  }),
  ...withStatus(405, {
    MethodNotAllowed: "The requested method is not allowed on the specified resource.",
  }),
  ...withStatus(409, {
    EntityAlreadyExists: "The specified entity already exists.",
    TableAlreadyExists: "The table specified already exists.",
    TableBeingDeleted: "The specified table is being deleted.",
  }),
  ...withStatus(412, {
    UpdateConditionNotSatisfied: "The update condition specified in the request was not satisfied.",
  }),
  ...withStatus(415, {
    JsonFormatNotSupported: "JSON format is not supported.",
    MediaTypeNotSupported: "None of the provided media types are supported",
    AtomFormatNotSupported: "Atom format is not supported.",
  }),
  ...withStatus(501, {
    NotImplemented: "The requested operation is not implemented on the specified resource.",
  }),
  // Data Lake API.
  ...withStatus(400, {
    // The service spells it so.
    InvaldAccessControlList: "The access control list value is invalid.",
    SetAclMissingAces: "Invalid ACL: the user, group and other entries are required.",
    InvalidPermission: "The permission value is invalid.",
    InvalidPropertyName: "A property name cannot be empty.",
    InvalidFlushPosition:
      "The uploaded data is not contiguous or the position query parameter value is not equal to " +
      "the length of the file after appending the uploaded data.",
    InvalidSourceUri: "The source URI is invalid.",
  }),
  ...withStatus(404, {
    FilesystemNotFound: "The specified filesystem does not exist.",
    PathNotFound: "The specified path does not exist.",
    SourcePathNotFound: "The source path for a rename operation does not exist.",
    RenameDestinationParentPathNotFound:
      "The parent directory of the destination path does not exist.",
  }),
  ...withStatus(409, {
    FilesystemAlreadyExists: "The specified filesystem already exists.",
    FilesystemBeingDeleted: "The specified filesystem is being deleted.",
    PathAlreadyExists: "The specified path already exists.",
    InvalidFlushOperation:
      "The resource was created or modified by the Azure Blob Service API and cannot be written " +
      "to by the Azure Data Lake Storage Service API.",
    InvalidAppendOperation:
      "The resource was created or modified by the Azure Blob Service API and cannot be appended " +
      "to by the Azure Data Lake Storage Service API.",
    InvalidRenameSourcePath:
      "The source directory cannot be the same as the destination directory, nor can the " +
      "destination be a subdirectory of the source directory.",
    InvalidSourceOrDestinationResourceType:
      "The source and destination resource type must be identical.",
  }),
  ...withStatus(412, {
    LeaseNotPresent: "There is currently no lease on the resource.",
  }),
  // File service.
  ...withStatus(400, {
    InvalidFileOrDirectoryPathName: "File or directory path is too long.",
    ShareSnapshotOperationNotSupported: "The operation is not supported on a share snapshot.",
    HandleLimitExceeded: "The number of open handles on the file has reached its limit.",
    FileInvalidPermission: "The specified file permission is not valid.",
    FileShareProvisionedIopsInvalid:
      "The provisioned IOPS value specified for the file share is not valid.",
    FileShareProvisionedBandwidthInvalid:
      "The provisioned bandwidth value specified for the file share is not valid.",
    FileShareProvisionedStorageInvalid:
      "The provisioned storage value specified for the file share is not valid.",
  }),
  ...withStatus(403, {
    ShareDisabled: "The specified share is disabled by the administrator.",
  }),
  ...withStatus(404, {
    ParentNotFound: "The specified parent path does not exist.",
    ShareNotFound: "The specified share does not exist.",
    ShareSnapshotNotFound: "The specified share snapshot was not found.",
  }),
  ...withStatus(409, {
    CannotDeleteFileOrDirectory:
      "The file or directory could not be deleted because it is in use by an SMB client.",
    DeletePending: "The specified resource is marked for deletion by an SMB client.",
    DirectoryNotEmpty: "The specified directory is not empty.",
    FileLockConflict: "A portion of the specified file is locked by an SMB client.",
    ReadOnlyAttribute: "The specified resource is read-only and cannot be modified at this time.",
    ShareAlreadyExists: "The specified share already exists.",
    ShareBeingDeleted: "The specified share is being deleted. Try operation later.",
    SharingViolation: "The specified resource may be in use by an SMB client.",
    ShareSnapshotInProgress: "Another Share Snapshot operation is in progress.",
    ShareSnapshotCountExceeded: "The total number of snapshots for the share is over the limit.",
    ShareHasSnapshots: "The share has snapshots and the operation requires no snapshots.",
    ContainerQuotaDowngradeNotAllowed:
      "Cannot downgrade quota at this moment. Please check share properties for the next allowed " +
      "quota downgrade time.",
    SMBDeletePending: "The specified resource is marked for deletion by an SMB client.",
    DeleteShareWhenSnapshotLeased:
      "Unable to delete share because one or more share snapshots have active leases. Release " +
      "the share snapshot leases or delete the share with the include-leased parameter for " +
      "x-ms-delete-snapshots.",
    TotalSharesCountExceedsAccountLimit:
      "The total number of shares exceeds the limit of the account.",
  }),
  ...withStatus(412, {
    LeaseIdMismatchWithFileOperation:
      "The lease ID specified did not match the lease ID for the file.",
    LeaseNotPresentWithFileOperation: "There is currently no lease on the file.",
  }),
  ...withStatus(413, {
    ShareSizeLimitReached: "The specified share size limit has been reached.",
  }),
  ...withStatus(500, {
    ClientCacheFlushDelay:
      "The specified resource state could not be flushed from an SMB client in the specified time.",
  }),
};
