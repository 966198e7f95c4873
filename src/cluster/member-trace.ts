import { TraceLevel, traceChannel } from '../profiling/index.ts'
import type { MemberChange } from './member-tracker.ts'

const trace = traceChannel('cluster')

/** Trace that a member of a space has come or gone, as this process found. */
export function traceMember(space: string, { type, member }: Pick<MemberChange, 'type' | 'member'>): void {
  const { slot, epoch, processId } = member
  trace.publish(type === 'died' ? TraceLevel.Warn : TraceLevel.Info, type, () => ({ space, slot, epoch, processId }))
}
