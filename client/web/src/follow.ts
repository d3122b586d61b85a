// A stream that another page or program publishes.

import {DeformService, type WatchOpened} from '@proto/deform_service_pb';
import type {Server} from './server.ts';
import {CallError, INVALID_ARGUMENT} from './wire.ts';

// The opening of the stream.
export async function openingOf(server: Server, name: string): Promise<WatchOpened> {
  const abort = new AbortController();
  try {
    for await (const {opened} of server.stream(DeformService.method.watchStream, {name}, abort.signal)) if (opened) return opened;
  } finally {
    abort.abort();
  }
  throw new CallError(INVALID_ARGUMENT, 'The stream has no opening.');
}
