import { describe, expect, test } from 'vitest';
import { type TextKind, textDecoder } from '../../../pipelines/dicom/character-set.ts';

/** Decodes a value written in the notation of PS3.5, in which `\\e` is ESC. */
const decode = (sets: string, bytes: string, kind: TextKind = 'name') =>
  textDecoder(sets.split('\\'))(Buffer.from(bytes, 'latin1'), kind);

describe('the examples of the standard', () => {
  test.each([
    [
      'H.3.1, Japanese',
      '\\ISO 2022 IR 87',
      'Yamada^Tarou=\x1b$B;3ED\x1b(B^\x1b$BB@O:\x1b(B=\x1b$B$d$^$@\x1b(B^\x1b$B$?$m$&\x1b(B',
      'Yamada^Tarou=山田^太郎=やまだ^たろう',
    ],
    [
      'H.3.2, Japanese in half-width katakana',
      'ISO 2022 IR 13\\ISO 2022 IR 87',
      '\xd4\xcf\xc0\xde^\xc0\xdb\xb3=\x1b$B;3ED\x1b(J^\x1b$BB@O:\x1b(J=\x1b$B$d$^$@\x1b(J^\x1b$B$?$m$&\x1b(J',
      'ﾔﾏﾀﾞ^ﾀﾛｳ=山田^太郎=やまだ^たろう',
    ],
    [
      'I.2, Korean',
      '\\ISO 2022 IR 149',
      'Hong^Gildong=\x1b$)C\xfb\xf3^\x1b$)C\xd1\xce\xd4\xd7=\x1b$)C\xc8\xab^\x1b$)C\xb1\xe6\xb5\xbf',
      'Hong^Gildong=洪^吉洞=홍^길동',
    ],
    [
      'J.1, Chinese in UTF-8',
      'ISO_IR 192',
      'Wang^XiaoDong=\xe7\x8e\x8b^\xe5\xb0\x8f\xe6\x9d\xb1',
      'Wang^XiaoDong=王^小東',
    ],
    [
      'J.2, Chinese in GB18030',
      'GB18030',
      'Wang^XiaoDong=\xcd\xf5^\xd0\xa1\xb6\xab',
      'Wang^XiaoDong=王^小东',
    ],
    [
      'K.2, Chinese in GB 2312',
      '\\ISO 2022 IR 58',
      'Zhang^XiaoDong=\x1b$)A\xd5\xc5^\x1b$)A\xd0\xa1\xb6\xab=',
      'Zhang^XiaoDong=张^小东=',
    ],
  ])('%s', (_example, sets, bytes, text) => {
    expect(decode(sets, bytes)).toBe(text);
  });
});

describe('one set', () => {
  test.each([
    ['ISO_IR 100', 'M\xfcller', 'Müller'],
    ['ISO_IR 101', 'W\xb3adys\xb3aw', 'Władysław'],
    ['ISO_IR 109', '\xa6a\xa1o', 'ĤaĦo'],
    ['ISO_IR 110', '\xe0\xba', 'āē'],
    ['ISO_IR 144', '\xbb\xee\xda', 'Люк'],
    ['ISO_IR 127', '\xe2\xe8', 'قو'],
    ['ISO_IR 126', '\xc4\xe9\xef', 'Διο'],
    ['ISO_IR 138', '\xf9\xf8', 'שר'],
    ['ISO_IR 148', '\xc7a\xfd', 'Çaı'],
    ['ISO_IR 203', '\xa4\xbc', '€Œ'],
    ['ISO_IR 166', '\xca\xc1', 'สม'],
    ['ISO_IR 13', '\xd4\xcf', 'ﾔﾏ'],
    ['GBK', '\xcd\xf5', '王'],
  ])('%s', (set, bytes, text) => {
    expect(decode(set, bytes)).toBe(text);
  });
});

describe('code extensions', () => {
  test('last until the delimiters of a name, after which the first set applies again', () => {
    const sets = 'ISO 2022 IR 100\\ISO 2022 IR 144';
    expect(decode(sets, '\x1b-L\xbb^\xfc')).toBe('Л^ü');
    expect(decode(sets, '\x1b-L\xbb^\xbb', 'short')).toBe('Л^Л');
    expect(decode(sets, '\x1b-L\xbb\\\xfc', 'short')).toBe('Л\\ü');
    expect(decode(sets, '\x1b-L\xbb\\\xbb', 'long')).toBe('Л\\Л');
    expect(decode(sets, '\x1b-L\xbb\r\n\xfc', 'long')).toBe('Л\r\nü');
  });

  test('do not mistake a byte inside a character for a delimiter', () => {
    // 春 is 3D 55, and its first byte equals that of `=`.
    expect(decode('\\ISO 2022 IR 87', 'A=\x1b$B=U\x1b(B^B')).toBe('A=春^B');
    // In GB18030, a second byte may equal the backslash.
    expect(decode('GB18030', '\x81\x5cA', 'short')).toBe('乗A');
  });

  test('work for JIS X 0212', () => {
    expect(decode('\\ISO 2022 IR 87\\ISO 2022 IR 159', '\x1b$(D0!\x1b(B')).toBe('丂');
  });

  test.each([
    ['without its escape sequence', '\\ISO 2022 IR 100', 'M\xfcller', 'Müller'],
    ['without it behind a delimiter', '\\ISO 2022 IR 58', 'A=\x1b$)A\xcd\xf5^\xd0\xa1', 'A=王^小'],
    ['that nobody declared', '', '\x1b-L\xbb\xee', 'Лю'],
    ['of an unknown name', 'ISO-8859-1', 'M\xfcller', 'Müller'],
    ['cut in the middle of a character', '\\ISO 2022 IR 87', '\x1b$B;3E', '山E'],
  ])('are read %s', (_what, sets, bytes, text) => {
    expect(decode(sets, bytes)).toBe(text);
  });

  test('that DICOM does not define lose only their escape character', () => {
    expect(decode('\\ISO 2022 IR 87', 'A\x1b[B')).toBe('A[B');
  });
});
