import { describe, expect, it } from 'vitest';
import type { DisplayReading } from '../../../../pipelines/echo/displays/reading.ts';
import type { ClipView } from '../../../../pipelines/echo/locate/reader.ts';
import { clipOf, displayOf } from '../clip-sample.ts';
import { interpreted } from '../interpret-sample.ts';

const PICTURES = ['PLAX', 'PSAX-PM', 'A4C', 'A2C', 'A3C', 'SUBCOSTAL-IVC'] as const;
const DISPLAYS = [
  ['mitral-inflow', 'pw'],
  ['septal-annulus', 'pw'],
  ['lateral-annulus', 'pw'],
  ['lvot', 'pw'],
  ['aortic-valve', 'cw'],
  ['tricuspid-regurgitation', 'cw'],
] as const;

const pictures = () => PICTURES.map((view) => clipOf(view));
const displays = () => DISPLAYS.map(([flow, kind]) => displayOf(flow, kind));

const seen = (clips: readonly ClipView[], spectra: readonly DisplayReading[]) =>
  interpreted({}, 'model', {}, { clips, spectra });
const viewsOf = (clips: readonly ClipView[], spectra: readonly DisplayReading[]) =>
  seen(clips, spectra).section('views');

describe('the minimum set of a complete study (echo 2.9)', () => {
  it('is not a limited study if it is complete', () => {
    expect(viewsOf(pictures(), displays())).toMatchObject({ status: 'complete', reason: null });
  });
  it.each(PICTURES)('without %s is a limited study, which states this', (missing) => {
    const section = viewsOf(
      pictures().filter(({ view }) => view !== missing),
      displays(),
    );
    const name = { 'PSAX-PM': 'PSAX', 'SUBCOSTAL-IVC': 'subcostal IVC' }[missing as string];
    expect(section?.status).toBe('partial');
    expect(section?.reason?.detail).toMatch(
      new RegExp(`^Limited study: .* no clip was found of ${name ?? missing}\\.$`),
    );
  });
  it.each(DISPLAYS)('without a display of %s is limited', (missing) => {
    const left = displays().filter(({ flow }) => flow !== missing);
    expect(viewsOf(pictures(), left)?.status).toBe('partial');
  });
  it('counts an M-mode of the IVC as its view, but no colour clip as a 2D one', () => {
    const without = pictures().filter(({ view }) => view !== 'SUBCOSTAL-IVC' && view !== 'PLAX');
    const cava = [...displays(), displayOf('vena-cava', 'm-mode')];
    expect(viewsOf([clipOf('PLAX'), ...without], cava)?.status).toBe('complete');
    expect(viewsOf([clipOf('PLAX', 'colour'), ...without], cava)?.status).toBe('partial');
  });
  it('does not count an A4C aimed at the RV as an LV view', () => {
    const aimed = pictures().map((one) => (one.view === 'A4C' ? clipOf('A4C-RV') : one));
    expect(viewsOf(aimed, displays())?.reason?.detail).toContain('of A4C.');
  });
  it('states the views that the reader named', () => {
    const clips = [{ ...clipOf('A4C'), source: 'person' as const }];
    expect(viewsOf(clips, [])?.summary).toContain('Views named by the reader: A4C.');
  });
});

describe('a clip on which the reader saw none of the views', () => {
  const other = { ...clipOf('A4C'), view: null, source: 'person', confidence: null } as const;
  it('is not reported as unrecognised', () => {
    expect(viewsOf([...pictures(), other], displays())).toMatchObject({ status: 'complete' });
  });
  it('is not counted among the clips whose view is uncertain', () => {
    const unsure = { ...clipOf('A4C'), view: null, source: null, confidence: 0.4 };
    const detail = viewsOf([...pictures(), unsure, other], displays())?.reason?.detail;
    expect(detail).toContain('The view of 1 of 8 clips was not recognised reliably');
  });
});

describe('views of the RV', () => {
  const section = viewsOf([clipOf('RV-INFLOW'), clipOf('RV-OUTFLOW')], []);
  it('are listed but not measured', () => {
    expect(section?.summary).toContain('Views named by the machine: RV inflow, RV outflow.');
    expect(section?.data.clips).toEqual([
      expect.objectContaining({ view: 'RV inflow', measured: false }),
      expect.objectContaining({ view: 'RV outflow', measured: false }),
    ]);
  });
});

describe('the draft report', () => {
  const { report } = seen(pictures(), []).result;
  it('states what the study contains and lacks before it describes structures', () => {
    expect(report?.findings[1]).toMatch(/^Views and modes: /);
    expect(report?.limitations.join(' ')).toMatch(/Limited study/);
  });
  it('concludes nothing from the presence of views', () => {
    expect(report?.impression).toEqual(['No conclusion can be drawn from what was assessed.']);
  });
});
