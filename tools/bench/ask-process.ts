import type { ChildProcess } from 'node:child_process'
import { AetherError } from 'aether-dsm/internal/native'

/** What processes of a benchmark answer; `failed` instead of anything else. */
export interface Said {
  readonly kind: string
  readonly why?: string
}

type Answer<Message extends Said, K extends Message['kind']> = Extract<Message, { readonly kind: K }>

/** Send and wait for the answer. */
export function askProcess<Message extends Said, K extends Message['kind']>(
  child: ChildProcess,
  message: object,
  kind: K,
): Promise<Answer<Message, K>> {
  child.send(message, () => {})
  return answerOf<Message, K>(child, kind)
}

/**
 * The next message that has a kind. Rejects with an AetherError when it tells of a failure, or the process ends
 * instead.
 */
export function answerOf<Message extends Said, K extends Message['kind']>(
  child: ChildProcess,
  kind: K,
): Promise<Answer<Message, K>> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void): void => {
      child.off('message', onMessage)
      child.off('exit', onExit)
      act()
    }
    const fail = (why: string): void => settle(() => reject(new AetherError('ERR_AETHER_BENCH', why)))
    const onMessage = (message: Message): void => {
      // Payload that is measured is bytes.
      if (message.kind === undefined) return
      if (message.kind === kind) settle(() => resolve(message as Answer<Message, K>))
      else fail(message.kind === 'failed' ? String(message.why) : `'${message.kind}' came in the place of '${kind}'`)
    }
    const onExit = (code: number | null, signal: string | null): void =>
      fail(`a process of the benchmark ended with ${signal ?? `status ${code}`}`)
    child.on('message', onMessage)
    child.on('exit', onExit)
  })
}

/** Of several errors at once, which have no message together, the first one's; never nothing. */
export function whyOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return whyOf(error.errors[0])
  if (!(error instanceof Error)) return String(error)
  return error.message || `${error.name} ${'code' in error ? String(error.code) : ''}`.trim()
}
