import { describeMessage, messageOf, type RecordedMessage, type RecordedStep } from '../../dsm/index.ts'

/** What came in from outside, in words. */
export function describeInput({ call, arguments: args }: RecordedStep): string {
  const [first, second, third] = args
  switch (call) {
    case 'demand':
      return `a thread wants to ${second === true ? 'write' : 'read'} page ${first}`
    case 'evict':
      return `the memory of page ${first} is wanted`
    case 'receive': {
      const message = first as RecordedMessage
      return `from rank ${message[2]}: ${describeMessage(messageOf(message))}`
    }
    case 'retry':
      return `page ${first} need not be held any more`
    case 'absorb':
      return `recovery: what had come is taken in: ${describeMessage(messageOf(first as RecordedMessage))}`
    case 'forget':
      return 'recovery: what was under way is forgotten'
    case 'install':
      return `recovery: the copy of page ${first} is '${second}'`
    case 'installLost':
      return `recovery: page ${first} is lost`
    case 'installDirectory':
      return `recovery: page ${first} is owned by ${second === -1 ? 'nobody' : `rank ${second}`}, shared by ${(third as readonly number[]).join(' ') || 'nobody'}`
  }
}
