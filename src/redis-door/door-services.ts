import type { Buffer } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import type { IndexNode } from '../index-service/index.ts'
import { DoorUsers } from './access/door-users.ts'
import { Activity } from './activity/activity.ts'
import { ClientLimits } from './connection/client-limits.ts'
import { Clients } from './connection/clients.ts'
import { Pause } from './connection/pause.ts'
import { Notifications } from './publish/notifications.ts'
import { Publisher } from './publish/publisher.ts'
import { ClusterMap } from './routing/cluster-map.ts'
import { Router } from './routing/router.ts'
import { Scripts } from './scripts/scripts.ts'
import { DoorParameters } from './settings/door-parameters.ts'
import { Tracking } from './tracking/tracking.ts'

/** Certificates and keys, as PEM. With `ca`, clients have to show a certificate of it. */
interface DoorTls {
  readonly cert: Buffer
  readonly key: Buffer
  readonly ca: Buffer | undefined
}

/** What a door is opened with. */
export interface DoorSettings {
  readonly address: string
  readonly port: number
  /** The address by which clients are sent here from other nodes. */
  readonly announce: string
  /** Of the user `default`. */
  readonly password: string | undefined
  readonly clientsMax: number
  readonly timeoutMs: number
  /** Clients know of the nodes, and go to that of a key's leader. */
  readonly isCluster: boolean
  /** Connections are encrypted. */
  readonly tls?: DoorTls | undefined
  /** How many threads send replies. Default 1: the one of the program. */
  readonly ioThreads?: number
  /** @internal What takes connections that are not encrypted. Default `native`. */
  readonly front?: 'native' | 'node' | undefined
  /** What is answered is on disks. */
  readonly hasDirectory?: boolean
  /** Ends the process, as SHUTDOWN asks. Without it, SHUTDOWN is refused. */
  readonly onShutdown?: () => void
}

/** What commands and connections of one door share. */
export class DoorServices {
  readonly node: IndexNode
  readonly settings: DoorSettings
  readonly router: Router
  readonly cluster: ClusterMap
  readonly clients: Clients = new Clients()
  readonly parameters: DoorParameters
  readonly activity: Activity
  readonly users: DoorUsers
  readonly limits: ClientLimits
  readonly pause: Pause = new Pause()
  readonly sinceMs: number = Date.now()
  /** Tells this process from others, as Redis' servers do. */
  readonly runId: string = randomBytes(20).toString('hex')
  /** When SAVE was asked for last. */
  lastSaveMs: number = this.sinceMs
  /** Where it listens. */
  port = 0
  readonly publisher: Publisher
  readonly notifications: Notifications
  readonly scripts: Scripts
  readonly tracking: Tracking

  /** `isOfDoor`: whether a command is one of the door's. */
  constructor(node: IndexNode, settings: DoorSettings, isOfDoor: (name: string) => boolean) {
    this.node = node
    this.settings = settings
    this.cluster = new ClusterMap(node)
    this.publisher = new Publisher(node)
    this.notifications = new Notifications(node, this.publisher)
    this.router = new Router(node, settings)
    this.parameters = new DoorParameters(settings, this.notifications, node)
    this.tracking = new Tracking(this)
    this.activity = new Activity(this.parameters, node.slowLog)
    this.scripts = new Scripts({
      publisher: this.publisher,
      activity: this.activity,
      shards: node.shards,
      isCluster: settings.isCluster,
      isOfDoor,
      timeLimitMs: () => Number(this.parameters.get('busy-reply-threshold')),
    })
    this.users = new DoorUsers(this.parameters)
    this.limits = new ClientLimits(this.parameters, this.activity.statistics)
  }
}
