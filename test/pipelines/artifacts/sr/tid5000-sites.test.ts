import { describe, expect, test } from 'vitest';
import type { ContentItem } from '../../../../pipelines/artifacts/sr/content-item.ts';
import { decode } from '../../../../pipelines/artifacts/sr/decode.ts';
import { checkTemplate } from '../../../../pipelines/artifacts/sr/template-check.ts';
import { buildTid5000 } from '../../../../pipelines/artifacts/sr/tid5000.ts';
import type { Result } from '../../../../pipelines/result/envelope.ts';
import { measurement } from '../example-measurements.ts';
import { RESULT } from '../example-result.ts';
import { SUBJECT } from '../example-subject.ts';
import { asFile, dciodvfy, installed } from '../programs.ts';

/** Values that belong to a site rather than to a biometry group. */
const AT_SITES: Result = {
  ...RESULT,
  measurements: [
    measurement('afi', 'amniotic-fluid-index', 132),
    measurement('dvp', 'deepest-vertical-pocket', 48),
    measurement('cl', 'cervical-length', 31),
    measurement('os', 'placenta-to-os', 24),
    measurement('mca', 'middle-cerebral-artery-pi', 1.9, { unit: '1' }),
    measurement('ua', 'umbilical-artery-pi', 1.1, { unit: '1' }),
    measurement('ua-ri', 'umbilical-artery-ri', 0.6, { unit: '1' }),
    measurement('left', 'uterine-artery-pi', 0.9, { unit: '1', laterality: 'left' }),
    measurement('right', 'uterine-artery-pi', 1.2, { unit: '1', laterality: 'right' }),
    measurement('vessel', 'unnamed-vessel-pi', 1.3, { unit: '1' }),
    measurement('ctar', 'cardiothoracic-area-ratio', 0.29, { unit: '1' }),
  ],
};

const file = buildTid5000(AT_SITES, SUBJECT);

/** Returns the tree as nested titles, in which values follow their codes. */
function outline(item: ContentItem): unknown {
  const { name, value, items } = item;
  if (value.type === 'NUM') return name?.meaning;
  if (value.type === 'CODE') return value.code.meaning;
  const children = items.filter((child) => ['CONTAINER', 'NUM', 'CODE'].includes(child.value.type));
  return { [name?.meaning ?? '']: children.map(outline) };
}

const sections = (title: string) =>
  decode(file)
    .root.items.filter(({ name }) => name?.meaning === title)
    .map(outline);

describe('values that belong to a site, in TID 5000', () => {
  test('follow the rows of TID 5010, 5015, 5025 and 5026', () => {
    expect(checkTemplate(decode(file))).toEqual([]);
  });

  test.skipIf(!installed('dciodvfy'))('dciodvfy has no complaint', () => {
    expect(dciodvfy(asFile(file, 'dcm'))).toEqual({ code: 0, complaints: [] });
  });

  test('put amniotic fluid under the sac, and each vessel in its own group, with separate sides', () => {
    expect(sections('Findings')).toEqual([
      { Findings: ['Amniotic Sac', 'Amniotic Fluid Index', 'Diameter'] },
      {
        Findings: [
          'Embryonic Vascular Structure',
          { 'Middle cerebral artery': ['Pulsatility Index'] },
        ],
      },
      {
        Findings: [
          'Pelvic Vascular Structure',
          { 'Umbilical artery': ['Pulsatility Index', 'Resistivity Index'] },
          { 'Uterine artery': ['Left', 'Pulsatility Index'] },
          { 'Uterine artery': ['Right', 'Pulsatility Index'] },
        ],
      },
    ]);
  });

  test('put cervix and placental edge under pelvis and uterus', () => {
    expect(sections('Pelvis and Uterus')).toEqual([
      { 'Pelvis and Uterus': ['Cervix Length', expect.any(String)] },
    ]);
  });

  test('treat the ratio of heart to thorax as a ratio of biometry', () => {
    expect(sections('Fetal Biometry Ratios')).toEqual([
      { 'Fetal Biometry Ratios': ['Cardiothoracic Area Ratio'] },
    ]);
  });

  test('have no group for a vessel without a name', () => {
    expect(JSON.stringify(outline(decode(file).root))).not.toContain('nnamed');
  });
});
