/** Where a process or a memory listens. */
export interface Place {
  /** A device of verbs, such as `shm0`, `tcp-lo` or `rxe0`. */
  readonly device: string
  readonly address: string
  readonly port: number
}
