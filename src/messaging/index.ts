/**
 * Messages between two ends over verbs: rings in registered memory, written one-sided, with credits that hold a fast sender back.
 *
 * @module
 */
export { type ConnectLinkOptions, connectLink, type LinkConnectionOptions } from './connect-link.ts'
export { LinkError, type LinkErrorReason } from './errors.ts'
export { type LinkListener, type LinkPeer, type ListenLinksOptions, listenLinks } from './link-listener.ts'
export type { CompletionMode, LinkOptions } from './link-options.ts'
export {
  type LocalRange,
  MESSAGE_KIND_MAX,
  type MessageHandler,
  type MessageLink,
  type RegisteredBuffer,
  type RemoteAddress,
} from './message-link.ts'
export type { VerbsLink } from './verbs-link.ts'
