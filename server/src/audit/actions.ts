import type { AuditAction } from '@parley/contract/audit'
import { deleteConversation } from '@parley/contract/conversations'
import type { AnyEndpoint } from '@parley/contract/endpoint'
import { connectGitProviders, disconnectGitProviders } from '@parley/contract/git'
import { createKey, deleteKey, rotateKey } from '@parley/contract/keys'
import {
  acceptInvitation,
  changePerson,
  createInvitation,
  deleteInvitation,
  removePerson,
} from '@parley/contract/people'
import { readSandboxSecret } from '@parley/contract/sandbox-specs'
import { deleteSandbox } from '@parley/contract/sandboxes'
import { createSecret, deleteSecret, updateSecret } from '@parley/contract/secrets'
import { updateSettings } from '@parley/contract/settings'
import { changePassword, claimOwner, endSession, signIn, signOut } from '@parley/contract/users'
import { readForgeToken } from '@parley/contract/webhooks'

/** What a call is in the audit log, and which fields of its input and its answer name the thing it touches. */
export interface Audited {
  endpoint: AnyEndpoint
  action: AuditAction
  /** The first that the input has; its values are never secret. */
  names: readonly string[]
}

const audited = (endpoint: AnyEndpoint, action: AuditAction, ...names: string[]): Audited => ({
  endpoint,
  action,
  names,
})

export const actions: readonly Audited[] = [
  audited(signIn, 'sign_in', 'email'),
  audited(signOut, 'sign_out'),
  audited(claimOwner, 'owner.claim', 'email'),
  audited(changePassword, 'password.change'),
  audited(createInvitation, 'invitation.create', 'email'),
  audited(deleteInvitation, 'invitation.delete', 'id'),
  audited(acceptInvitation, 'invitation.accept'),
  audited(changePerson, 'person.change', 'id'),
  audited(removePerson, 'person.remove', 'id'),
  audited(endSession, 'session.end', 'id'),
  audited(createKey, 'key.create'),
  audited(deleteKey, 'key.delete', 'id'),
  audited(rotateKey, 'key.rotate', 'id'),
  audited(createSecret, 'secret.create', 'name'),
  audited(updateSecret, 'secret.update', 'id'),
  audited(deleteSecret, 'secret.delete', 'id'),
  audited(readSandboxSecret, 'secret.read', 'name'),
  audited(updateSettings, 'settings.update'),
  audited(connectGitProviders, 'forge.connect'),
  audited(disconnectGitProviders, 'forge.disconnect'),
  audited(readForgeToken, 'forge.token_read', 'provider'),
  audited(deleteSandbox, 'sandbox.delete', 'id'),
  audited(deleteConversation, 'conversation.delete', 'id'),
]
