import { randomBytes } from 'node:crypto'
import type { IndexNode } from '../index-service/index.ts'
import { DoorUsers } from './access/door-users.ts'
import { Activity } from './activity/activity.ts'
import { packables } from './catalogue/packables.ts'
import { ClientLimits } from './connection/client-limits.ts'
import { Clients } from './connection/clients.ts'
import { Pause } from './connection/pause.ts'
import { Notifications } from './publish/notifications.ts'
import { Publisher } from './publish/publisher.ts'
import { ClusterMap } from './routing/cluster-map.ts'
import { Router } from './routing/router.ts'
import { Scripts } from './scripts/scripts.ts'
import { DoorParameters } from './settings/door-parameters.ts'
import type { DoorSettings } from './settings/door-settings.ts'
import { Tracking } from './tracking/tracking.ts'

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
    this.router = new Router(node, { ...settings, packableAt: packables(isOfDoor) })
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
