/** The results of the changes that the admin API makes in the store: of accounts, of principals and
 *  role assignments, and of event subscriptions. A change that is rejected writes nothing. */

/** Why a change is rejected, with the status that the admin API then answers. */
export const changeFaults = {
  InvalidInput: 400,
  AccountNotFound: 404,
  AccountAlreadyExists: 409,
  AccountIsConfigured: 409,
  AccountNotEmpty: 409,
  TooManyAccounts: 409,
  PrincipalNotFound: 404,
  PrincipalAlreadyExists: 409,
  PrincipalIsConfigured: 409,
  TooManyPrincipals: 409,
  RoleAssignmentNotFound: 404,
  RoleAssignmentAlreadyExists: 409,
  TooManyRoleAssignments: 409,
  SubscriptionNotFound: 404,
  SubscriptionIsConfigured: 409,
  SubscriptionIsStored: 409,
  SubscriptionChanged: 409,
  TooManySubscriptions: 409,
  WebhookNotListed: 403,
  WebhookNotValidated: 400,
} as const;

export interface ChangeFault {
  readonly ok: false;
  readonly code: keyof typeof changeFaults;
  readonly message: string;
}

export type ChangeResult<T> = { readonly ok: true; readonly value: T } | ChangeFault;

export function refuseChange(code: ChangeFault["code"], message: string): ChangeFault {
  return { ok: false, code, message };
}
