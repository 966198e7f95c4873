import type { IndexPort } from '../index-service/index.ts'
import { Clients } from './connection/clients.ts'
import { Router } from './routing/router.ts'

/** What a door is opened with. */
export interface DoorSettings {
  readonly address: string
  readonly port: number
  /** Of the user `default`. */
  readonly password: string | undefined
  readonly clientsMax: number
  readonly timeoutMs: number
}

/** What commands and connections of one door share. */
export class DoorServices {
  readonly settings: DoorSettings
  readonly router: Router
  readonly clients: Clients = new Clients()

  constructor(port: IndexPort, settings: DoorSettings) {
    this.settings = settings
    this.router = new Router(port, settings.timeoutMs)
  }
}
