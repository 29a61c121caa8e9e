import { describe, expect, test } from 'vitest';
import {
  CollectedBytes,
  type CommandSet,
  encodeCommandSet,
  MAX_COMMAND_BYTES,
  MessageAssembler,
} from '../../../dimse/network/message.ts';
import type { Fragment } from '../../../dimse/network/pdu-reader.ts';

const STORE: CommandSet = { commandField: 0x0001, hasDataSet: true, messageId: 7 };
const ECHO: CommandSet = { commandField: 0x0030, hasDataSet: false, messageId: 8 };

const fragment = (data: Buffer, over: Partial<Fragment> = {}): Fragment => ({
  kind: 'fragment',
  contextId: 1,
  command: true,
  last: true,
  data,
  ...over,
});
const data = (text: string, over: Partial<Fragment> = {}) =>
  fragment(Buffer.from(text), { command: false, ...over });

/** Changes the group of the last element, the Command Data Set Type (0000,0800). */
function ofGroup(group: number, command: Buffer): Buffer {
  command.writeUInt16LE(group, command.length - 10);
  return command;
}

const UNEXPECTED = expect.objectContaining({ code: 'unexpected_pdu' });

describe('the message assembler', () => {
  test('returns a command set when its last fragment has arrived', () => {
    const messages = new MessageAssembler();
    const bytes = encodeCommandSet(ECHO);
    expect(messages.take(fragment(bytes.subarray(0, 11), { last: false }))).toBeNull();
    expect(messages.insideMessage).toBe(true);
    expect(messages.take(fragment(bytes.subarray(11)))).toMatchObject({
      kind: 'command',
      contextId: 1,
      command: ECHO,
    });
    expect(messages.insideMessage).toBe(false);
  });

  test('passes the data set on fragment by fragment, each with its command', () => {
    const messages = new MessageAssembler();
    messages.take(fragment(encodeCommandSet(STORE)));
    expect(messages.take(data('first', { last: false }))).toMatchObject({
      kind: 'data',
      command: STORE,
      data: Buffer.from('first'),
      last: false,
    });
    expect(messages.insideMessage).toBe(true);
    expect(messages.take(data('second'))).toMatchObject({ last: true });
    expect(messages.insideMessage).toBe(false);
  });

  test.each<[string, Fragment[]]>([
    ['data without a command', [data('x')]],
    ['data behind a command that has none', [fragment(encodeCommandSet(ECHO)), data('x')]],
    ['data on another context', [fragment(encodeCommandSet(STORE)), data('x', { contextId: 3 })]],
    [
      'a command inside a data set',
      [fragment(encodeCommandSet(STORE)), fragment(encodeCommandSet(ECHO))],
    ],
    [
      'a command set that changes its context',
      [fragment(Buffer.alloc(4), { last: false }), fragment(Buffer.alloc(4), { contextId: 3 })],
    ],
    ['a command set of more than 16 KiB', [fragment(Buffer.alloc(MAX_COMMAND_BYTES + 1))]],
    ['bytes that are no command set', [fragment(Buffer.alloc(9))]],
    ['a command set without its last byte', [fragment(encodeCommandSet(ECHO).subarray(0, -1))]],
    ['an element of another group', [fragment(ofGroup(8, encodeCommandSet(ECHO)))]],
  ])('refuses %s', (_what, fragments) => {
    const messages = new MessageAssembler();
    const take = () => {
      for (const one of fragments) messages.take(one);
    };
    expect(take).toThrowError(UNEXPECTED);
  });
});

test('bytes are collected only up to their limit', () => {
  const bytes = new CollectedBytes(4);
  bytes.add(Buffer.from('ab'));
  bytes.add(Buffer.from('cd'));
  expect(bytes.whole().toString()).toBe('abcd');
  expect(() => bytes.add(Buffer.from('e'))).toThrowError(UNEXPECTED);
});
