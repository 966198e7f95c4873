import type { DoorClient } from './client.ts'

/** A client as CLIENT LIST shows it. What a field counts in Redis alone is 0. */
export function clientLine(client: DoorClient): string {
  const { id, line, name, db, transaction, user, protocol, lastCommand } = client
  const nowMs = Date.now()
  const seconds = (ms: number): number => Math.max(0, Math.floor(ms / 1000))
  const fields: readonly (readonly [string, string | number])[] = [
    ['id', id],
    ['addr', line.address],
    ['laddr', line.localAddress],
    ['fd', id],
    ['name', name],
    ['age', seconds(nowMs - client.sinceMs)],
    ['idle', seconds(nowMs - client.lastMs)],
    ['flags', flagsOf(client)],
    ['db', db],
    ['sub', client.subscriptions],
    ['psub', 0],
    ['ssub', 0],
    ['multi', transaction?.requests.length ?? -1],
    ['qbuf', line.heldBytes],
    ['qbuf-free', 0],
    ['argv-mem', 0],
    ['multi-mem', 0],
    ['rbs', 0],
    ['rbp', 0],
    ['obl', 0],
    ['oll', 0],
    ['omem', line.unsentBytes],
    ['tot-mem', line.heldBytes + line.unsentBytes],
    ['events', 'r'],
    ['cmd', lastCommand === '' ? 'NULL' : lastCommand],
    ['user', user.name],
    ['redir', client.tracking?.options.redirect ?? -1],
    ['resp', protocol],
    ['lib-name', client.libraryName],
    ['lib-ver', client.libraryVersion],
  ]
  return fields.map(([field, value]) => `${field}=${value}`).join(' ')
}

function flagsOf(client: DoorClient): string {
  const flags = [
    client.isMonitor ? 'O' : '',
    client.subscriptions > 0 ? 'P' : '',
    client.transaction === undefined ? '' : 'x',
    client.blocked === undefined ? '' : 'b',
    client.tracking === undefined ? '' : 't',
    client.tracking?.isRedirectBroken === true ? 'R' : '',
    client.tracking?.options.isBroadcast === true ? 'B' : '',
    client.isReadOnly ? 'r' : '',
    client.isNotEvicted ? 'e' : '',
  ].join('')
  return flags === '' ? 'N' : flags
}
