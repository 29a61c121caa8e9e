import { describe, expect, it } from 'vitest';
import { type ContentItem, container } from '../../../../pipelines/artifacts/sr/content-item.ts';
import { REPORT_LIMITS } from '../../../../pipelines/input/cart-sr/content-tree.ts';
import { readStudy } from '../../../../pipelines/input/read-study.ts';
import { dicomFile, type Element, SYNTAX } from '../dicom-sample.ts';
import { onDisk } from '../on-disk.ts';
import {
  COMPREHENSIVE,
  cartFile,
  dcm,
  fetalBiometry,
  ln,
  obstetricReport,
  value,
} from './cart-report.ts';

async function readReport(bytes: Buffer) {
  const { cart, refused } = await readStudy(await onDisk({ 'report.dcm': bytes }));
  return { cart, reason: refused[0]?.reason };
}

const FL = ln('11963-6', 'Femur Length');

/**
 * Returns a report whose header identifies it as TID 5000, followed by these bytes (explicit little
 * endian).
 */
function reportWith(trailer: Buffer): Buffer {
  const title: Element[] = [
    ['00080100', 'SH', '125000'],
    ['00080102', 'SH', 'DCM'],
  ];
  const header: Element[] = [
    ['00080016', 'UI', COMPREHENSIVE],
    ['0040A040', 'CS', 'CONTAINER'],
    ['0040A043', 'SQ', [title]],
  ];
  return dicomFile(SYNTAX.explicit, header, trailer);
}

describe('a hostile report', () => {
  it('that nests deeper than the limit is refused, one less deep is read', async () => {
    // Returns nested containers, each of which is a content sequence inside another.
    const nested = (levels: number): ContentItem =>
      levels === 0
        ? value(FL, 50, 'mm')
        : container(dcm('125002', 'Fetal Biometry'), [nested(levels - 1)]);
    const deep = (levels: number) => cartFile(obstetricReport(nested(levels)));
    expect((await readReport(deep(30))).cart).toHaveLength(1);
    expect((await readReport(deep(REPORT_LIMITS.depth))).reason).toContain('nested too deeply');
  });

  it.each([
    ['a sequence that claims four gigabytes', 'feffff7f', '', 'the file is cut short'],
    ['a sequence without items', '08000000', '0800000012345678', 'damaged'],
    ['an item that claims more than its sequence', 'ffffffff', 'feff00e0ffffff7f', 'cut short'],
  ])('with %s is refused', async (_, length, content, sentence) => {
    const sequence = Buffer.from(`400030a753510000${length}${content}`, 'hex');
    expect((await readReport(reportWith(sequence))).reason).toContain(sentence);
  });

  it('with a value that is no number has no measurement', async () => {
    const whole = cartFile(obstetricReport(fetalBiometry(value(FL, 50.25, 'mm'))));
    const damaged = Buffer.from(whole);
    damaged.write('5e.2-', whole.indexOf('50.25'), 'latin1');
    // Changes the tag of Floating Point Value (0040,A161), which otherwise takes precedence over
    // Numeric Value.
    damaged.write('\x62', whole.indexOf(Buffer.from('400061a14644', 'hex')) + 2, 'latin1');
    expect(await readReport(damaged)).toEqual({ cart: undefined, reason: undefined });
  });

  it('with any byte overwritten is read or refused, never thrown', async () => {
    const whole = cartFile(obstetricReport(fetalBiometry(value(FL, 50, 'mm'))));
    for (let at = 132; at < whole.length; at += 5) {
      const damaged = Buffer.from(whole);
      damaged[at] = 0xff ^ (damaged[at] ?? 0);
      const { cart, reason } = await readReport(damaged);
      for (const one of cart ?? []) expect(Number.isFinite(one.value)).toBe(true);
      if (reason !== undefined) expect(reason).toMatch(/^[ -~]+$/);
    }
  });
});
