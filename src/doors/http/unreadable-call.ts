import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorCode } from '../../platform/errors/catalogue.ts';
import { problem } from '../../platform/errors/problem.ts';

/** Codes of Node.js for calls that it does not pass on, other than those that are not HTTP. */
const KNOWN: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'payload_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'call_timeout',
};

/**
 * Answers calls that Node.js refuses before the app sees them, in the form of all other errors and
 * with an `X-Request-Id`. Calls with an unknown expectation go to the app, which ignores it (RFC
 * 9110 10.1.1).
 */
export function answerUnreadableCalls(
  server: Server,
  handle: (call: IncomingMessage, response: ServerResponse) => void,
): void {
  const latest = new WeakMap<Duplex, ServerResponse>();
  server.on('request', (call, response) => latest.set(call.socket, response));
  server.on('checkExpectation', handle);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const begun = latest.get(socket);
    const halfSent = begun?.headersSent === true && !begun.writableFinished;
    if (error.code === 'ECONNRESET' || !socket.writable || halfSent) {
      socket.destroy();
      return;
    }
    socket.end(refusal(KNOWN[error.code ?? ''] ?? 'malformed_call'), () => socket.destroy());
  });
}

/** Returns the text of a response, after which the connection is closed. */
function refusal(code: ErrorCode): string {
  const requestId = randomUUID();
  const detail = 'The gateway could not read the call.';
  const answer = problem(code, detail, '', { request_id: requestId });
  const body = JSON.stringify(answer);
  return [
    `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}`,
    `X-Request-Id: ${requestId}`,
    'X-Content-Type-Options: nosniff',
    'Cache-Control: no-store',
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
