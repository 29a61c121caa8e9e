import type { IncomingMessage } from 'node:http';
import type { Middleware } from 'koa';
import { SonogateError } from '../errors/catalogue.ts';
import type { HttpState } from './deps.ts';
import { unsoundShape } from './json-shape.ts';
import { isStorable } from './storable-text.ts';

/** Reads a JSON body of at most `limit` bytes into `state.body`; undefined when there is none. */
export function jsonBody(limit: number): Middleware<HttpState> {
  return async (context, next) => {
    const hasBody = Number(context.get('Content-Length')) > 0 || context.get('Transfer-Encoding');
    if (hasBody) {
      if (!context.is('application/json') || context.get('Content-Encoding')) {
        throw new SonogateError(
          'unsupported_media_type',
          'Send the body as `Content-Type: application/json`, without a content coding.',
        );
      }
      context.state.body = parse(await read(context.req, limit));
    }
    await next();
  };
}

async function read(call: IncomingMessage, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Destroying the call would take the connection with it, and the answer could not be sent.
  for await (const chunk of call.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (bytes > limit) {
      throw new SonogateError('payload_too_large', `A body may have up to ${limit} bytes.`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** What cannot be stored is no text: it must not get as far as the database. */
function storable(name: string, value: unknown): unknown {
  if (!isStorable(name) || (typeof value === 'string' && !isStorable(value))) {
    throw new SyntaxError('a string that is no text');
  }
  return value;
}

function parse(bytes: Buffer): unknown {
  const { text, value } = decode(bytes);
  const unsound = unsoundShape(text);
  if (unsound !== null) throw new SonogateError('invalid_json', unsound);
  return value;
}

function decode(bytes: Buffer): { text: string; value: unknown } {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return { text, value: JSON.parse(text, storable) };
  } catch {
    throw new SonogateError('invalid_json', 'The body is not a JSON text in UTF-8.');
  }
}
