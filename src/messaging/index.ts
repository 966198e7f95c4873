/**
 * Messages between two ends over verbs: rings in registered memory, written one-sided, with credits that hold a fast sender back.
 *
 * @module
 */
export { LinkError, type LinkErrorReason } from './errors.ts'
export {
  type LocalRange,
  MESSAGE_KIND_MAX,
  type MessageHandler,
  type MessageLink,
  type RegisteredBuffer,
  type RemoteAddress,
} from './message-link.ts'
