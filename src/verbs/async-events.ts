import { checkBoolean, checkOptions, checkSignalKind, type OptionNames } from '../native/index.ts'
import { TraceLevel } from '../profiling/index.ts'
import { asyncEventName, type ProviderAsyncEvent, type ProviderQueuePair } from '../providers/index.ts'
import type { CompletionQueue } from './completion-queue.ts'
import type { DomainDevice } from './protection-domain.ts'
import type { QueuePair } from './queue-pair.ts'
import type { SharedReceiveQueue } from './shared-receive-queue.ts'
import { rdmaTrace } from './verbs-trace.ts'

/**
 * An asynchronous event and the object it concerns: ibv_get_async_event(3). Events of objects closed in the meantime
 * are left out.
 */
export interface AsyncEvent {
  /** An AsyncEventType; numbers that are not listed there pass through. */
  readonly type: number
  /** `SendQueueDrained`, … */
  readonly name: string
  readonly completionQueue?: CompletionQueue
  readonly queuePair?: QueuePair
  readonly sharedReceiveQueue?: SharedReceiveQueue
  readonly port?: number
}

export interface EventOptions {
  /** Ends the iteration with its reason. */
  readonly signal?: AbortSignal
  /** Keep the process alive while waiting. Default false. */
  readonly keepAlive?: boolean
}

const names: OptionNames<EventOptions> = { signal: true, keepAlive: true }

/** @throws ArgumentError */
export function checkEvents(options: EventOptions): void {
  checkOptions('events', options, names)
  checkSignalKind('options.signal', options.signal)
  checkBoolean('options.keepAlive', options.keepAlive ?? false)
}

/** Return the pending events without blocking. */
export function drainAsyncEvents(device: DomainDevice): AsyncEvent[] {
  const events: AsyncEvent[] = []
  device.provider.drainEvents((event) => {
    rdmaTrace.publish(TraceLevel.Warn, 'asyncEvent', () => ({
      device: device.name,
      event: asyncEventName(event.type),
      port: event.port,
    }))
    events.push(nounsOf(device, event))
  })
  return events
}

/** Events as they come, until the device is closed. Only one iteration sees each event. */
export async function* iterateAsyncEvents(
  device: DomainDevice,
  options: EventOptions,
): AsyncGenerator<AsyncEvent, void> {
  const { signal, keepAlive = false } = options
  while (!device.closed) {
    signal?.throwIfAborted()
    const events = drainAsyncEvents(device)
    yield* events
    if (events.length === 0) await nextEvent(device, keepAlive, signal)
  }
}

/** Resolves when an event waits or the device is closed. */
function nextEvent(device: DomainDevice, keepAlive: boolean, signal: AbortSignal | undefined): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const finish = (settle: () => void): void => {
      cancel()
      device.onClose.delete(onClose)
      signal?.removeEventListener('abort', onAbort)
      settle()
    }
    const onAbort = (): void => finish(() => reject(signal?.reason))
    const onClose = (): void => finish(resolve)
    const cancel = device.provider.whenEvent(() => finish(resolve), keepAlive)
    device.onClose.add(onClose)
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}

function nounsOf(device: DomainDevice, event: ProviderAsyncEvent): AsyncEvent {
  const completionQueue = [...device.completionQueues].find((each) => each.provider === event.completionQueue)
  const domains = [...device.domains]
  const queuePair = domains.flatMap((each) => [...each.queuePairs]).find((each) => isSame(each, event.queuePair))
  const sharedReceiveQueue = domains
    .flatMap((each) => [...each.sharedReceiveQueues])
    .find((each) => each.provider === event.sharedReceiveQueue)
  return {
    type: event.type,
    name: asyncEventName(event.type),
    ...(completionQueue === undefined ? {} : { completionQueue }),
    ...(queuePair === undefined ? {} : { queuePair }),
    ...(sharedReceiveQueue === undefined ? {} : { sharedReceiveQueue }),
    ...(event.port === undefined ? {} : { port: event.port }),
  }
}

function isSame(pair: QueuePair, provider: ProviderQueuePair | undefined): boolean {
  return provider !== undefined && pair.provider === provider
}
