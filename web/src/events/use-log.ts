import { useSyncExternalStore } from 'react'
import type { LogState, OpenLog } from './log-state.ts'

/** The state of a log, drawn again when it changes. */
export const useLogState = (log: OpenLog): LogState => useSyncExternalStore(log.subscribe, log.state)
