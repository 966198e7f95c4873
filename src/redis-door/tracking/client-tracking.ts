/** What CLIENT TRACKING ON says. */
export interface TrackingOptions {
  /** The client that is told in its place; 0: it is told itself. */
  readonly redirect: number
  /** It is told of all keys that begin with its prefixes, whether it has read them or not. */
  readonly isBroadcast: boolean
  /** `in`: only reads behind CLIENT CACHING YES are tracked; `out`: all but those behind CLIENT CACHING NO. */
  readonly opts: 'in' | 'out' | undefined
  /** It is not told of what it has changed itself. */
  readonly isNoLoop: boolean
}

/** Keys, as latin1; undefined: any key may have changed. */
export type Invalidated = readonly string[] | undefined

/** A client that is told of changes of keys that it may keep. */
export class ClientTracking {
  /** By which its own changes are known. */
  readonly origin: number
  options: TrackingOptions
  /** As latin1. */
  readonly prefixes: Set<string> = new Set<string>()
  /** The client of {@link TrackingOptions.redirect} is gone. */
  isRedirectBroken = false
  /** What CLIENT CACHING said holds for the next command. */
  isCachingSaid = false
  /** A command is under way. */
  isBusy = false
  /** That command may wait. */
  isWaiting = false
  /** Keys that it reads. Of a change meanwhile it is told once it has the answer, which may be older. */
  readonly reading: Set<string> = new Set<string>()
  /** Those that it reads behind its own changes, and whether it is told of these. It still has the keys afterwards. */
  readonly rereads: Map<string, boolean> = new Map<string, boolean>()
  /** What it is told when it has the answer. */
  readonly late: Invalidated[] = []

  constructor(origin: number, options: TrackingOptions) {
    this.origin = origin
    this.options = options
  }
}
