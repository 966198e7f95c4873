import type { IndexNode } from '../index-service/index.ts'
import { Clients } from './connection/clients.ts'
import { Notifications } from './publish/notifications.ts'
import { Publisher } from './publish/publisher.ts'
import { ClusterMap } from './routing/cluster-map.ts'
import { Router } from './routing/router.ts'
import { Scripts } from './scripts/scripts.ts'

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
}

/** What commands and connections of one door share. */
export class DoorServices {
  readonly node: IndexNode
  readonly settings: DoorSettings
  readonly router: Router
  readonly cluster: ClusterMap
  readonly clients: Clients = new Clients()
  readonly publisher: Publisher
  readonly notifications: Notifications
  readonly scripts: Scripts

  /** `isOfDoor`: whether a command is one of the door's. */
  constructor(node: IndexNode, settings: DoorSettings, isOfDoor: (name: string) => boolean) {
    this.node = node
    this.settings = settings
    this.cluster = new ClusterMap(node)
    this.publisher = new Publisher(node)
    this.scripts = new Scripts(this.publisher, node.shards, isOfDoor)
    this.notifications = new Notifications(this.publisher)
    this.router = new Router(node, settings)
  }
}
