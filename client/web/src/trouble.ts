// What the page says while something does not answer.

import {CallError, NOT_FOUND, PERMISSION_DENIED, UNAUTHENTICATED} from './wire.ts';

const KEPT = 'The last shape is shown; trying again …';

// connection: why the program that serves this page cannot be reached; waiting: why a call to the service ended; silence: seconds
// without an answer. Empty: all is well.
// ofServer: the page is that of a server, not of sinew view.
export function troubleText(connection: CallError | null, waiting: CallError | null, silence: number, ofServer = false): string {
  if (connection?.code === UNAUTHENTICATED || connection?.code === PERMISSION_DENIED) return connection.message;
  if (connection?.message.startsWith('The server answered')) return `${connection.message} ${KEPT}`;
  if (connection) {
    return `The program behind this page does not answer: it has ended, or the line is broken. ${KEPT}` +
      (ofServer ? '' : ' If you start sinew view again, open the link that it prints.');
  }
  if (waiting?.code === NOT_FOUND && ofServer) return `The server does not have this rig any more: choose another (Rigs). ${KEPT}`;
  if (waiting) return `${serviceText(waiting)} ${KEPT}`;
  if (silence > 2) return `The service has not answered for ${Math.round(silence)} s. It is slow, or the line is; the page waits.`;
  return '';
}

function serviceText({code, message, reason}: CallError): string {
  if (code === NOT_FOUND) return 'The service was started again: it gets the character again.';
  if (reason === 'DRAINING' || /\bdraining\b/.test(message)) return 'The service is shutting down.';
  const refused = /ipv[46]:(\S+?):? .*Connection refused/.exec(message);
  if (refused) return `The service has ended: nothing listens at ${refused[1]}.`;
  if (/ended the call|Socket closed|recvmsg|Connection reset|GOAWAY/i.test(message)) return 'The service has ended, or the line to it is broken.';
  return message.replace(/[.\s]*$/, '.');
}
