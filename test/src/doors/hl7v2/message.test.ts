import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  characterSetFor,
  componentOf,
  decodeMessage,
  decodeText,
  encodeMessage,
  encodeText,
  type Field,
  NotHl7,
  repeated,
  type Segment,
  segment,
} from '../../../../src/doors/hl7v2/message.ts';

const header = segment('MSH', { 3: 'SONOGATE', 9: ['ORU', 'R01', 'ORU_R01'] });

/** Returns a field without trailing empty parts, because they are equivalent to absent ones. */
function trimmed(field: Field): string[][][] {
  const last = <Part>(parts: readonly Part[], isEmpty: (part: Part) => boolean) =>
    parts.slice(0, parts.findLastIndex((part) => !isEmpty(part)) + 1);
  const components = field.map((repetition) =>
    last(
      repetition.map((component) => [...last(component, (text) => text === '')]),
      (component) => component.length === 0,
    ),
  );
  return last(components, (repetition) => repetition.length === 0);
}

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('|', '^', '~', '\\', '&', '\r', '\n', 'F', 'X', '0', 'é') }),
);
const few = { maxLength: 4 };
const field = fc.array(fc.array(fc.array(text, few), few), few);

describe('an HL7 version 2 message', () => {
  test('returns every text that was written into it', () => {
    fc.assert(
      fc.property(fc.array(field, few), (fields) => {
        const written = encodeMessage([header, { name: 'OBX', fields }]);
        const lines = decodeMessage(written);
        expect(lines).toHaveLength(2);
        const read = lines[1]?.fields.map(trimmed) ?? [];
        const meant = fields.map(trimmed);
        const full = meant.findLastIndex((one) => one.length > 0) + 1;
        expect(read.slice(0, full)).toEqual(meant.slice(0, full));
      }),
    );
  });

  test('lets no text break out of its field', () => {
    const hostile = 'a|b^c~d\\e&f\rPID|1\nX\u001c\r';
    const written = encodeMessage([header, segment('OBX', { 5: hostile })]);
    expect(written.split('\r')).toHaveLength(3);
    expect(written).toContain(
      'a\\F\\b\\S\\c\\R\\d\\E\\e\\T\\f\\X0D\\PID\\F\\1\\X0A\\X\\X1C\\\\X0D\\',
    );
    expect(componentOf(decodeMessage(written)[1] as Segment, 5)).toBe(hostile);
  });

  test('has its fields at the numbers of the standard', () => {
    const written = encodeMessage([
      segment('MSH', { 3: 'A', 10: 'C1', 12: '2.5.1' }),
      segment('PID', {
        3: ['1', '', '', ['NS', '1.2', 'ISO'], 'MR'],
        5: repeated(['x', ['y', 'z']]),
      }),
    ]);
    expect(written).toBe('MSH|^~\\&|A|||||||C1||2.5.1\rPID|||1^^^NS&1.2&ISO^MR||x~y^z\r');
    const [msh, pid] = decodeMessage(written) as [Segment, Segment];
    expect(componentOf(msh, 10)).toBe('C1');
    expect(componentOf(pid, 3, 4, 2)).toBe('1.2');
  });

  test('is read with the separators that its header states', () => {
    const [, msa] = decodeMessage('MSH$*:?!$A\rMSA$AA$C?S?1*x?.br?y\r') as [Segment, Segment];
    expect(componentOf(msa, 2)).toBe('C*1');
    expect(componentOf(msa, 2, 2)).toBe('x\ny');
  });

  test.each(['', 'MSH', 'PID|1', 'MSH||', 'MSHA^~\\&', 'MSH|^^\\&|x', '{}'])(
    'is not recognized in %j',
    (other) => {
      expect(() => decodeMessage(other)).toThrow(NotHl7);
    },
  );

  test('of arbitrary bytes is either parsed or refused', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc
        .uint8Array({ maxLength: 300 })
        .map((rest) => Buffer.concat([Buffer.from('MSH|^~\\&|'), rest])),
    );
    fc.assert(
      fc.property(bytes, (some) => {
        try {
          decodeMessage(decodeText(Buffer.from(some)));
        } catch (error) {
          expect(error).toBeInstanceOf(NotHl7);
        }
      }),
    );
  });
});

describe('the character set of a message', () => {
  test('is the one that the receiver prefers, if it has every character', () => {
    expect(characterSetFor('Müller', '8859/1')).toBe('8859/1');
    expect(characterSetFor('Łukasz', '8859/1')).toBe('UNICODE UTF-8');
    expect(characterSetFor('Łukasz', 'UNICODE UTF-8')).toBe('UNICODE UTF-8');
  });

  test.each(['8859/1', 'UNICODE UTF-8'] as const)('%s is read by its name in MSH-18', (set) => {
    const message = encodeMessage([segment('MSH', { 18: set }), segment('NTE', { 3: 'Müller' })]);
    expect(decodeText(encodeText(message, set))).toBe(message);
  });

  test('that no decoder supports does not prevent reading the message', () => {
    const message = encodeMessage([segment('MSH', { 18: '8859/99' }), segment('MSA', { 1: 'AA' })]);
    expect(decodeMessage(decodeText(Buffer.from(message)))).toHaveLength(2);
  });
});
