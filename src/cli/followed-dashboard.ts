import { type DashboardOptions, DashboardServer, FollowedSpace, type SessionRecorder } from '../dashboard/index.ts'
import { type RecordChoice, startRecorder } from './dashboard-record.ts'

/** Serves the page of a space, and records it if `record` is given, whether or not the page is open. */
export class FollowedDashboard {
  readonly #source: FollowedSpace
  readonly #server: DashboardServer
  readonly #recorder: SessionRecorder | undefined

  private constructor(source: FollowedSpace, server: DashboardServer, recorder: SessionRecorder | undefined) {
    this.#source = source
    this.#server = server
    this.#recorder = recorder
  }

  /**
   * The recording's file is created after the server listens, so a failure leaves nothing behind.
   * @throws what `FollowedSpace.check`, `DashboardServer.start` and the recorder throw.
   */
  static async start(
    space: string | undefined,
    record: RecordChoice | undefined,
    address: Omit<DashboardOptions, 'source'> = {},
  ): Promise<FollowedDashboard> {
    const source = new FollowedSpace(space)
    source.check()
    const begun: { recorder?: SessionRecorder } = {}
    const server = await DashboardServer.start({
      ...address,
      source,
      metrics: () => source.metrics(),
      ...(record && { always: true, onLook: (frame) => begun.recorder?.look(frame) }),
    })
    try {
      if (record !== undefined) begun.recorder = startRecorder(source, record)
    } catch (error) {
      await server.close()
      throw error
    }
    return new FollowedDashboard(source, server, begun.recorder)
  }

  /** The address to open in a browser. */
  get url(): string {
    return this.#server.url
  }

  /** Records a last look before it closes: how the ranks ended, and what they did since the look before. */
  async close(): Promise<void> {
    try {
      if (this.#recorder !== undefined) this.#recorder.look(this.#source.look())
    } finally {
      this.#recorder?.close()
      await this.#server.close()
    }
  }
}
