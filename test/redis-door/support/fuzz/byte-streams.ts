import { Buffer } from 'node:buffer'
import type { Picker } from '../../../index-service/support/program-parts.ts'
import type { Command } from '../../../index-service/support/programs.ts'
import { encoded } from './wire.ts'

const COMMANDS: readonly Command[] = [
  ['PING'],
  ['SET', 'a', '1'],
  ['GET', 'a'],
  ['APPEND', 'a', 'xyz'],
  ['INCR', 'n'],
  ['RPUSH', 'l', 'x', 'y'],
  // LRANGE without its first letter is RANGE, the index's own.
  ['LLEN', 'l'],
  ['HSET', 'h', 'f', 'v'],
  ['HGET', 'h', 'f'],
  ['ECHO', 'two words'],
  ['ECHO', '\r\n*1\r\n'],
  ['ECHO', ''],
  ['ZADD', 'z', '1.5', 'm'],
  ['ZSCORE', 'z', 'm'],
  ['HELLO', '3'],
  ['HELLO', '2'],
  ['MULTI'],
  ['EXEC'],
  ['DISCARD'],
  ['NONSENSE', 'a', 'b'],
  ['GET'],
  ['RESET'],
  ['SELECT', '0'],
]

/** Lengths that are none, or too long. */
const LENGTHS = [
  ...['-1', '-2', '0', '1', '2', '01', '+1', '-0', ' 1', '1 ', '', 'x', '1x', '1048576', '1048577', '2147483647'],
  ...['2147483648', '536870912', '536870913', '9223372036854775807', '9223372036854775808', '99999999999999999999'],
]
const QUOTED = ['"a b"', "'a b'", '"\\x41\\n"', '"a', "'b", '"a"b', "'\\''", '""', '\\x41', 'a"b c"', '\t']

/** What a client sends: requests of both kinds, some of them spoiled. There is no zero byte: C would end text there. */
export function drawStream(pick: Picker): Buffer {
  // In a transaction, the door refuses HELLO: the version would change in the midst of an answer.
  const left = pick.of(['HELLO', 'MULTI'])
  const commands = COMMANDS.filter(([name]) => name !== left)
  const parts = Array.from({ length: 1 + pick.below(10) }, () => drawRequest(pick, commands))
  let bytes: Buffer = Buffer.concat(parts)
  if (!pick.once(3)) return bytes
  for (let spoils = 1 + pick.below(3); spoils > 0; spoils -= 1) bytes = spoiled(pick, bytes)
  return Buffer.from(bytes.map((byte) => (byte === 0 ? 1 : byte)))
}

/** In pieces, as a network delivers it. */
export function drawPieces(pick: Picker, bytes: Buffer): Buffer[] {
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = Math.min(bytes.length, at + 1 + pick.below(pick.once(2) ? 8 : 200))
    pieces.push(bytes.subarray(at, end))
    at = end
  }
  return pieces
}

function drawRequest(pick: Picker, commands: readonly Command[]): Buffer {
  const command = pick.of(commands)
  if (pick.once(12)) return withLength(pick, encoded(command))
  if (pick.once(12)) return Buffer.from(pick.of(['\r\n', '\n', '*0\r\n', '*-1\r\n', ' \r\n']))
  if (!pick.once(4) || !command.every((word) => /^\w+$/.test(word))) return encoded(command)
  const words = pick.once(6) ? [...command, pick.of(QUOTED)] : command
  return Buffer.from(words.join(pick.of([' ', '  ', '\t'])) + pick.of(['\r\n', '\n']), 'latin1')
}

/** One of the lengths is another one. */
function withLength(pick: Picker, request: Buffer): Buffer {
  const lines = request.toString('latin1').split('\r\n')
  const heads = [...lines.keys()].filter((at) => /^[*$]\d+$/.test(lines[at]!))
  const at = pick.of(heads)
  const mark = lines[at]![0]!
  // A door takes fewer arguments than Redis does, so that it need not keep as many.
  lines[at] = mark + pick.of(mark === '*' ? LENGTHS.filter((length) => !(Number(length) > 2 ** 20)) : LENGTHS)
  return Buffer.from(lines.join('\r\n'), 'latin1')
}

function spoiled(pick: Picker, bytes: Buffer): Buffer {
  const at = pick.below(bytes.length)
  const [before, behind] = [bytes.subarray(0, at), bytes.subarray(at)]
  switch (pick.below(4)) {
    case 0: {
      const turned = Buffer.from(bytes)
      turned[at] = turned[at]! ^ (1 << pick.below(8))
      return turned
    }
    case 1:
      return Buffer.concat([before, behind.subarray(1 + pick.below(4))])
    case 2:
      return Buffer.concat([
        before,
        Buffer.from(pick.of(['\r', '\n', '$', '*', '"', '\r\n', '-', '\xff']), 'latin1'),
        behind,
      ])
    default:
      return Buffer.concat([before, before.subarray(-20), behind])
  }
}
