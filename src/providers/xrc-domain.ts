export interface XrcDomainOptions {
  /**
   * A file whose inode lets processes share the domain; without it the domain is this process's own. ibv_open_xrcd(3).
   */
  readonly path?: string
  /** Create the domain if the file has none yet (O_CREAT); default true. */
  readonly create?: boolean
  /** Fail with EEXIST if there already is one (O_EXCL). */
  readonly exclusive?: boolean
}

/** What XRC receive queue pairs and XRC shared receive queues must have in common: ibv_open_xrcd(3). */
export interface ProviderXrcDomain {
  /** EBUSY while a queue pair or shared receive queue of this process is in it. */
  destroy(): void
}
