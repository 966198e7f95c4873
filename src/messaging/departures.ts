/** A link that has messages to send. */
export interface Departing {
  /**
   * Send whole messages of up to `bytesMax` bytes together. Returns how many bytes left; 0 if the first message is
   * longer.
   */
  depart(bytesMax: number): number
  /** False once it has nothing left, or cannot send just now: it then comes back by itself. */
  readonly isWaiting: boolean
}

/** What a weight of 1 may send in a round; with the highest weight it is a turn's part. */
const QUANTUM_BYTES = 8 << 10
/**
 * What leaves in one turn of the event loop; the rest waits for the next, where something more urgent may have come.
 */
const TURN_BYTES = 128 << 10

/** The place of one link among those that share a device. It decides how much of the link leaves, and when. */
export class DeparturePlace {
  readonly link: Departing
  readonly weight: number
  readonly priority: number
  /** Bytes that it may send beyond its quantum, because a message did not fit the last one. */
  deficit = 0
  readonly #departures: Departures

  constructor(departures: Departures, link: Departing, weight: number, priority: number) {
    this.#departures = departures
    this.link = link
    this.weight = weight
    this.priority = priority
  }

  /** True if an order is kept at all. While all links are alike, everything leaves with its own turn. */
  get isOrdered(): boolean {
    return this.#departures.isOrdered
  }

  /** The link has something to send. Call it once, until the link is no longer waiting. */
  wait(): void {
    this.#departures.wait(this)
  }

  /** The link has ended. */
  quit(): void {
    this.#departures.quit(this)
  }
}

/**
 * The order in which links of one thread leave through one device. Higher priorities always go first. Equal ones share
 * by deficit round robin by weight (Shreedhar and Varghese, "Efficient Fair Queueing Using Deficit Round Robin",
 * SIGCOMM 1995, section 3). In each round a link may send its quantum and what is left of the last one, in whole
 * messages.
 */
export class Departures {
  /** By priority, the highest first: those that wait, in the order of their turns. */
  readonly #rows: { readonly priority: number; readonly places: DeparturePlace[] }[] = []
  /** Links that are not like all others. */
  readonly #special = new Set<DeparturePlace>()
  readonly #turnBytes: number
  #sentBytes = 0
  #runDue = false
  #turnDue = false

  constructor(turnBytes: number = TURN_BYTES) {
    this.#turnBytes = turnBytes
  }

  get isOrdered(): boolean {
    return this.#special.size > 0
  }

  join(link: Departing, weight: number, priority: number): DeparturePlace {
    const place = new DeparturePlace(this, link, weight, priority)
    if (weight !== 1 || priority !== 0) this.#special.add(place)
    return place
  }

  quit(place: DeparturePlace): void {
    this.#special.delete(place)
  }

  wait(place: DeparturePlace): void {
    place.deficit = 0
    this.#row(place.priority).push(place)
    if (this.#runDue) return
    this.#runDue = true
    process.nextTick(this.#run)
  }

  readonly #run = (): void => {
    this.#runDue = false
    for (const { places } of this.#rows) {
      while (places.length > 0) {
        if (this.#sentBytes >= this.#turnBytes) return
        this.#serve(places, places.shift()!)
      }
    }
  }

  readonly #nextTurn = (): void => {
    this.#turnDue = false
    this.#sentBytes = 0
    this.#run()
  }

  #serve(places: DeparturePlace[], place: DeparturePlace): void {
    place.deficit += place.weight * QUANTUM_BYTES
    const isAlone = places.length === 0
    const sent = place.link.depart(isAlone ? Math.max(place.deficit, this.#turnBytes - this.#sentBytes) : place.deficit)
    if (sent > 0) this.#count(sent)
    if (!place.link.isWaiting) return
    place.deficit = Math.max(0, place.deficit - sent)
    places.push(place)
  }

  #count(bytes: number): void {
    this.#sentBytes += bytes
    if (this.#turnDue) return
    this.#turnDue = true
    setImmediate(this.#nextTurn)
  }

  #row(priority: number): DeparturePlace[] {
    let row = this.#rows.find((each) => each.priority === priority)
    if (row === undefined) {
      row = { priority, places: [] }
      this.#rows.push(row)
      this.#rows.sort((a, b) => b.priority - a.priority)
    }
    return row.places
  }
}
