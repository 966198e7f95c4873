export interface XrcDomainOptions {
  /** A file by whose inode processes share the domain; without, it is this process's own. ibv_open_xrcd(3). */
  readonly path?: string
  /** Create the domain where the file has none yet (O_CREAT); default true. */
  readonly create?: boolean
  /** Fail with EEXIST where there is one already (O_EXCL). */
  readonly exclusive?: boolean
}

/** What XRC receive queue pairs and XRC shared receive queues must have in common: ibv_open_xrcd(3). */
export interface ProviderXrcDomain {
  /** EBUSY while a queue pair or shared receive queue of this process is in it. */
  destroy(): void
}
