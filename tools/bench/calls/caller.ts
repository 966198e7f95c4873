/** A way to have bytes given back by another process, with several calls under way. */
export interface Caller {
  call(data: Buffer): Promise<unknown>
  close(): void | Promise<void>
}
