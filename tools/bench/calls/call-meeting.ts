import { join } from 'node:path'

/** Where callers find the servers. */
export interface CallMeeting {
  readonly device: string
  readonly address: string
  readonly port: number
  /** Of Unix sockets. */
  readonly directory: string
}

/** The Unix socket that gives back what comes. */
export function echoSocketIn(directory: string): string {
  return join(directory, 'echo.sock')
}

/** That of gRPC. */
export function grpcSocketIn(directory: string): string {
  return join(directory, 'grpc.sock')
}
