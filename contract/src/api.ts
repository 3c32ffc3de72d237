import { searchAudit } from './audit.ts'
import { explainConversation, forkConversation, getFinalResponse } from './conversation-insight.ts'
import {
  countConversations,
  deleteConversation,
  getConversation,
  getConversations,
  interruptConversation,
  pauseConversation,
  resumeConversation,
  runConversation,
  searchConversations,
  updateConversation,
} from './conversations.ts'
import { countEvents, eventSocket, getEvents, respondToConfirmation, searchEvents, streamEvents } from './events.ts'
import {
  connectGitProviders,
  disconnectGitProviders,
  listGitAccounts,
  searchBranches,
  searchInstallations,
  searchRepositories,
  searchSuggestedTasks,
} from './git.ts'
import { getAlive, getHealth, getReady, getServerInfo, getWebClientConfig } from './health.ts'
import { createKey, deleteKey, getCurrentKey, listKeys, rotateKey } from './keys.ts'
import { postMessage, sendMessage } from './message.ts'
import { searchModelProviders, searchModels } from './models.ts'
import { queueMessage } from './pending-messages.ts'
import { getSandboxSpecs, listSandboxSecrets, readSandboxSecret, searchSandboxSpecs } from './sandbox-specs.ts'
import {
  createSandbox,
  deleteSandbox,
  getSandbox,
  getSandboxes,
  pauseSandbox,
  resumeSandbox,
  searchSandboxes,
} from './sandboxes.ts'
import { createSecret, deleteSecret, listSecrets, searchSecrets, updateSecret } from './secrets.ts'
import { getSettings, updateSettings } from './settings.ts'
import {
  countSharedEvents,
  getSharedConversations,
  getSharedEvent,
  getSharedEvents,
  searchSharedEvents,
} from './shared.ts'
import {
  cancelStartTask,
  countStartTasks,
  getStartTasks,
  searchStartTasks,
  startConversation,
  streamStart,
} from './start-tasks.ts'
import {
  acceptInvitation,
  changePassword,
  claimOwner,
  createInvitation,
  deleteInvitation,
  finishSso,
  getMe,
  listInvitations,
  signIn,
  signOut,
  startSso,
  updateMe,
} from './users.ts'
import { getV0Conversation, startV0Conversation } from './v0.ts'
import {
  createWebhookSubscription,
  deleteWebhookSubscription,
  replayWebhookDelivery,
  rotateWebhookSecret,
  searchWebhookDeliveries,
  searchWebhookSubscriptions,
  updateWebhookSubscription,
} from './webhook-subscriptions.ts'
import { readForgeToken, reportConversation, reportEvents } from './webhooks.ts'
import {
  downloadFile,
  downloadTrajectory,
  getGitDiff,
  listConversationHooks,
  listConversationSkills,
  listFiles,
  listGitChanges,
  readFile,
  uploadFiles,
} from './workspace.ts'

/** Every call of the service by noun. What is not in this table is not offered. */
export const api = {
  conversations: {
    start: startConversation,
    streamStart,
    search: searchConversations,
    count: countConversations,
    getMany: getConversations,
    get: getConversation,
    update: updateConversation,
    delete: deleteConversation,
    pause: pauseConversation,
    run: runConversation,
    resume: resumeConversation,
    interrupt: interruptConversation,
    sendMessage,
    queueMessage,
    fork: forkConversation,
    why: explainConversation,
    finalResponse: getFinalResponse,
    gitChanges: listGitChanges,
    gitDiff: getGitDiff,
    files: listFiles,
    readFile,
    downloadFile,
    uploadFiles,
    download: downloadTrajectory,
    skills: listConversationSkills,
    hooks: listConversationHooks,
  },
  startTasks: {
    getMany: getStartTasks,
    search: searchStartTasks,
    count: countStartTasks,
    cancel: cancelStartTask,
  },
  events: {
    search: searchEvents,
    count: countEvents,
    getMany: getEvents,
    post: postMessage,
    respondToConfirmation,
    stream: streamEvents,
    socket: eventSocket,
  },
  sandboxes: {
    search: searchSandboxes,
    getMany: getSandboxes,
    get: getSandbox,
    create: createSandbox,
    pause: pauseSandbox,
    resume: resumeSandbox,
    delete: deleteSandbox,
    listSecrets: listSandboxSecrets,
    readSecret: readSandboxSecret,
  },
  sandboxSpecs: { search: searchSandboxSpecs, getMany: getSandboxSpecs },
  secrets: {
    list: listSecrets,
    search: searchSecrets,
    create: createSecret,
    update: updateSecret,
    delete: deleteSecret,
  },
  settings: { get: getSettings, update: updateSettings },
  git: {
    installations: searchInstallations,
    repositories: searchRepositories,
    branches: searchBranches,
    suggestedTasks: searchSuggestedTasks,
    accounts: listGitAccounts,
    connect: connectGitProviders,
    disconnect: disconnectGitProviders,
  },
  models: { search: searchModels, providers: searchModelProviders },
  keys: { list: listKeys, create: createKey, delete: deleteKey, rotate: rotateKey, current: getCurrentKey },
  audit: { search: searchAudit },
  users: {
    me: getMe,
    updateMe,
    claim: claimOwner,
    signIn,
    signOut,
    changePassword,
    listInvitations,
    createInvitation,
    deleteInvitation,
    acceptInvitation,
    startSso,
    finishSso,
  },
  webhooks: { conversation: reportConversation, events: reportEvents, forgeToken: readForgeToken },
  webhookSubscriptions: {
    search: searchWebhookSubscriptions,
    create: createWebhookSubscription,
    update: updateWebhookSubscription,
    delete: deleteWebhookSubscription,
    rotate: rotateWebhookSecret,
    deliveries: searchWebhookDeliveries,
    replay: replayWebhookDelivery,
  },
  shared: {
    conversations: getSharedConversations,
    searchEvents: searchSharedEvents,
    countEvents: countSharedEvents,
    events: getSharedEvents,
    event: getSharedEvent,
  },
  health: {
    alive: getAlive,
    health: getHealth,
    ready: getReady,
    serverInfo: getServerInfo,
    webClientConfig: getWebClientConfig,
  },
  v0: { start: startV0Conversation, get: getV0Conversation },
} as const
