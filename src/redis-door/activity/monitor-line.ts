import { Buffer } from 'node:buffer'
import type { Request } from '../protocol/request.ts'

const escapes: Readonly<Record<number, string>> = {
  ...{ 92: '\\\\', 34: '\\"', 10: '\\n', 13: '\\r', 9: '\\t', 7: '\\a', 8: '\\b' },
}

export interface CommandOrigin {
  readonly db: number
  /** The address of a client, or `lua`. */
  readonly source: string
}

/** What MONITOR shows of a command: `1339518083.107412 [0 127.0.0.1:60866] "get" "x"`. */
export function monitorLine({ db, source }: CommandOrigin, { name, args }: Request): string {
  const ms = Date.now()
  const time = `${Math.floor(ms / 1000)}.${String((ms % 1000) * 1000).padStart(6, '0')}`
  const shown = [Buffer.from(name, 'latin1'), ...args].map(quoted).join(' ')
  return `${time} [${db} ${source}] ${shown}`
}

/** As C writes text: what is not ASCII, and not to be seen, in hexadecimal. */
function quoted(bytes: Uint8Array): string {
  let shown = '"'
  for (const byte of bytes) {
    const short = escapes[byte]
    if (short !== undefined) shown += short
    else if (byte >= 0x20 && byte < 0x7f) shown += String.fromCharCode(byte)
    else shown += `\\x${byte.toString(16).padStart(2, '0')}`
  }
  return `${shown}"`
}
