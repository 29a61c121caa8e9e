interface ServerSentEvent {
  id: string;
  event: string;
  data: string;
}

/** Yields the events of a stream (WHATWG HTML 9.2.6), without its comments. */
export async function* readServerSentEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<ServerSentEvent> {
  let rest = '';
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    rest += text;
    const blocks = rest.split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = parse(block);
      if (event.data !== '') yield event;
    }
  }
}

function parse(block: string): ServerSentEvent {
  const event: ServerSentEvent = { id: '', event: 'message', data: '' };
  for (const line of block.split(/\r?\n/)) {
    const [, field, value = ''] = /^(id|event|data): ?(.*)$/.exec(line) ?? [];
    if (field === 'id' || field === 'event') event[field] = value;
    if (field === 'data') event.data += event.data === '' ? value : `\n${value}`;
  }
  return event;
}
