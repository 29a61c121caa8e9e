import { describe, expect, it } from 'vitest';
import { headerFlow } from '../../../../pipelines/echo/displays/flows.ts';
import { mModeStructure } from '../../../../pipelines/echo/displays/reading.ts';

const NONE = {
  anatomicRegion: null,
  viewName: null,
  stageName: null,
  stageNumber: null,
  viewCode: null,
};
const named = (viewName: string | null, kind: 'pw' | 'cw' = 'pw') =>
  headerFlow({ ...NONE, viewName }, kind);
const coded = (anatomicRegion: string, kind: 'pw' | 'cw') =>
  headerFlow({ ...NONE, anatomicRegion }, kind);

describe('the flow that a header names', () => {
  it.each([
    ['MV Inflow PW', 'mitral-inflow'],
    ['Mitral Valve', 'mitral-inflow'],
    ['LVOT PW', 'lvot'],
    ['RVOT_PW', 'rvot'],
    ['AV CW', 'aortic-valve'],
    ['AR CW', 'aortic-regurgitation'],
    ['Aortic insufficiency', 'aortic-regurgitation'],
    ['MR CW', 'mitral-regurgitation'],
    ['MS CW', 'mitral-inflow'],
    ['TR CW', 'tricuspid-regurgitation'],
    ['Tricuspid Regurg.', 'tricuspid-regurgitation'],
    ['PV CW', 'pulmonary-valve'],
    ['Pulm Vein PW', 'pulmonary-vein'],
    ['IVRT', 'isovolumic-relaxation'],
    ['TDI septal', 'septal-annulus'],
    ["E' lateral", 'lateral-annulus'],
    ['TDI RV', 'tricuspid-annulus'],
    ['E lat', 'lateral-annulus'],
    ['TVI sep', 'septal-annulus'],
    ['LVOT TVI', 'lvot'],
    ['MV E/A', 'mitral-inflow'],
    // Tricuspid inflow is not measured. Its E is not the S' of the annulus.
    ['TV E/A', null],
    // A single wall together with a word for tissue Doppler identifies the annulus. Without that
    // word, or with two walls, nothing is identified.
    ['Septal', null],
    ['TDI septal lateral', null],
    ['A4C', null],
    [null, null],
  ] as const)('%s: %s', (words, flow) => expect(named(words)).toBe(flow));

  it.each([
    ['SCT:13418002', 'pw', 'lvot'],
    ['SCT:44627009', 'pw', 'rvot'],
    ['SCT:34202007', 'cw', 'aortic-valve'],
    // With PW at the valve, the flow may be in the outflow tract.
    ['SCT:34202007', 'pw', null],
    ['SCT:46030003', 'cw', 'tricuspid-regurgitation'],
    ['SCT:399093001', 'pw', 'septal-annulus'],
    ['SCT:80891009', 'pw', null],
  ] as const)('%s by %s: %s', (code, kind, flow) => expect(coded(code, kind)).toBe(flow));

  it('is that of the view beside the name of a stage', () => {
    expect(headerFlow({ ...NONE, viewName: 'AV CW', stageName: 'Rest' }, 'cw')).toBe(
      'aortic-valve',
    );
  });

  it('is the regurgitation in words rather than the valve of the code', () => {
    const header = { ...NONE, anatomicRegion: 'SCT:34202007', viewName: 'AR' };
    expect(headerFlow(header, 'cw')).toBe('aortic-regurgitation');
  });
});

describe('CW of the LVOT', () => {
  const at = (header: object) => headerFlow({ ...NONE, viewName: 'LVOT', ...header }, 'cw');
  it.each([
    ['without a stage', {}, 'lvot-rest'],
    ['of the peak velocity', { viewName: 'LVOT peak vel' }, 'lvot-rest'],
    ['in the first stage', { stageNumber: 1 }, 'lvot-rest'],
    ['in the stage before stress', { stageName: 'Pre-Stress', stageNumber: 2 }, 'lvot-rest'],
    ['after contrast', { stageName: 'Post-contrast' }, 'lvot-rest'],
    ['after exercise', { stageName: 'POST' }, 'lvot-provoked'],
    ['in a later stage', { stageNumber: 2 }, 'lvot-provoked'],
    ['at peak', { stageName: 'PEAK' }, 'lvot-provoked'],
    ['during a manoeuvre', { viewName: 'LVOT Valsalva', stageName: 'Rest' }, 'lvot-provoked'],
  ])('%s: %s', (_, header, flow) => expect(at(header)).toBe(flow));
});

describe('the structure of an M-mode that a header names', () => {
  it.each([
    ['TAPSE', 'tricuspid-excursion'],
    ['MAPSE', 'mitral-excursion'],
    ['PLAX M-Mode LV', 'left-ventricle'],
    ['IVC M-Mode', 'vena-cava'],
    ['M-Mode', null],
  ] as const)('%s: %s', (viewName, structure) =>
    expect(mModeStructure({ ...NONE, viewName })).toBe(structure),
  );

  it('is the vena cava in its own view', () => {
    expect(mModeStructure({ ...NONE, anatomicRegion: 'SCT:64131007' })).toBe('vena-cava');
  });
});
