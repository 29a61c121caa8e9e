import {
  distance,
  fraction,
  inflowVelocity,
  interval,
  ln,
  type MeasurementConcept,
  millimetres,
  orifice,
  own,
  plainRatio,
  pressure,
  quantityIn,
  tissueVelocity,
  velocity,
  volume,
} from './coding.ts';

export const MITRAL_VALVE = {
  'mitral-e': inflowVelocity('Mitral E', 'E', [ln('80070-6', 'Mitral valve E-wave Vmax')]),
  'mitral-a': inflowVelocity('Mitral A', 'A', [ln('80066-4', 'Mitral valve A-wave Vmax')]),
  'e-to-a': plainRatio('E/A', 'E/A', [ln('18038-0', 'Mitral Valve E to A Ratio')]),
  'deceleration-time': interval('Mitral deceleration time', 'DT', [
    ln('78191-4', 'Mitral valve deceleration time'),
  ]),
  'e-prime-septal': tissueVelocity("Septal e'", "septal e'", [
    ln('79911-4', 'Mitral septal e-prime Vmax'),
  ]),
  'e-prime-lateral': tissueVelocity("Lateral e'", "lateral e'", [
    ln('80054-0', 'Mitral lateral e-prime Vmax'),
  ]),
  'e-to-e-prime': quantityIn('echo', '1', 1)("Average E/e'", "E/e'", [own('average-e-to-e-prime')]),
  'e-to-e-prime-septal': quantityIn('echo', '1', 1)("Septal E/e'", "septal E/e'", [
    own('septal-e-to-e-prime'),
  ]),
  'e-to-e-prime-lateral': quantityIn('echo', '1', 1)("Lateral E/e'", "lateral E/e'", [
    own('lateral-e-to-e-prime'),
  ]),
  'mr-orifice': orifice('MR effective regurgitant orifice area', 'MR EROA', [
    ln('80071-4', 'Mitral valve effective regurgitant orifice area (PISA)'),
  ]),
  'mr-volume': volume('MR regurgitant volume', 'MR RVol', [
    ln('80064-9', 'Mitral regurgitation volume (PISA)'),
  ]),
  'mr-fraction': fraction('MR regurgitant fraction', 'MR RF', [
    ln('80056-5', 'Mitral regurgitant fraction (PISA)'),
  ]),
  'mv-area-planimetry': orifice('Mitral valve area, planimetry', 'MVA', [
    ln('80068-0', 'Mitral valve area (Planimetry)'),
  ]),
  'mv-area-half-time': orifice('Mitral valve area, by half-time', 'MVA (PHT)', [
    ln('80069-8', 'Mitral valve area (Pressure Half-Time)'),
  ]),
  'mv-half-time': interval('Mitral pressure half-time', 'MV PHT', [
    ln('79912-2', 'Mitral valve pressure half-time'),
  ]),
  'mv-mean-gradient': pressure('Mitral valve mean gradient', 'MV mean gradient', [
    ln('80073-0', 'Mitral valve mean gradient'),
  ]),
  'mitral-a-duration': interval('Mitral A duration', 'A duration', [
    ln('80065-6', 'Mitral valve A-wave duration'),
  ]),
  'mv-vti': distance('Mitral valve VTI', 'MV VTI', [ln('79914-8', 'Mitral valve VTI')]),
  'mr-vmax': velocity('MR peak velocity', 'MR Vmax', [ln('80062-3', 'Mitral regurgitation Vmax')]),
  'a-prime-septal': tissueVelocity("Septal a'", "septal a'", [own('septal-a-prime')]),
  'a-prime-lateral': tissueVelocity("Lateral a'", "lateral a'", [own('lateral-a-prime')]),
  's-prime-septal': tissueVelocity("Septal S'", "septal S'", [own('septal-s-prime')]),
  's-prime-lateral': tissueVelocity("Lateral S'", "lateral S'", [own('lateral-s-prime')]),
  mapse: millimetres('MAPSE', 'MAPSE', [own('mitral-annular-plane-systolic-excursion')]),
} as const satisfies Record<string, MeasurementConcept>;

export const TRICUSPID_VALVE = {
  'tr-vmax': velocity('TR peak velocity', 'TR Vmax', [
    ln('79921-3', 'Tricuspid regurgitation Vmax'),
  ]),
  'tr-gradient': pressure('TR peak gradient', 'TR gradient', [
    ln('79937-9', 'Tricuspid regurgitation peak gradient'),
  ]),
  'tr-vena-contracta': quantityIn('echo', 'mm', 1)('TR vena contracta', 'TR VC', [
    ln('79933-8', 'Tricuspid regurgitation vena contracta width'),
  ]),
} as const satisfies Record<string, MeasurementConcept>;

export const PULMONIC_VALVE = {
  'rvot-acceleration': interval('RVOT acceleration time', 'RVOT AT', [
    ln('79928-8', 'Pulmonic valve acceleration time'),
  ]),
  'pr-vmax': velocity('PR peak velocity', 'PR Vmax', [
    ln('79919-7', 'Pulmonic regurgitation Vmax'),
  ]),
  'rvot-vti': distance('RVOT VTI', 'RVOT VTI', [
    ln('80089-6', 'Right ventricular outflow tract VTI'),
  ]),
  'pv-vmax': velocity('Pulmonary valve peak velocity', 'PV Vmax', [
    ln('79920-5', 'Pulmonic valve Vmax'),
  ]),
  'pr-end-velocity': velocity('PR end-diastolic velocity', 'PR end-diastolic', [
    ln('79918-9', 'Pulmonic regurgitation end diastolic velocity'),
  ]),
} as const satisfies Record<string, MeasurementConcept>;

export const AORTIC_VALVE = {
  'av-vmax': velocity('Aortic valve peak velocity', 'AV Vmax', [
    ln('79964-3', 'Aortic valve Vmax'),
  ]),
  'av-mean-gradient': pressure('Aortic valve mean gradient', 'AV mean gradient', [
    ln('79962-7', 'Aortic valve mean gradient'),
  ]),
  'av-vti': distance('Aortic valve VTI', 'AV VTI', [ln('79965-0', 'Aortic valve VTI')]),
  'av-area': orifice('Aortic valve area, by VTI', 'AVA', [
    ln('79958-5', 'Aortic valve area (Continuity VTI)'),
  ]),
  'av-area-vmax': orifice('Aortic valve area, by peak velocity', 'AVA (Vmax)', [
    ln('79956-9', 'Aortic valve area (Continuity Vmax)'),
  ]),
  'av-area-index': quantityIn('echo', 'cm2/m2', 2)('Aortic valve area index', 'AVAi', [
    ln('79959-3', 'Aortic valve area (Continuity VTI) / BSA'),
  ]),
  'av-area-vmax-index': quantityIn('echo', 'cm2/m2', 2)(
    'Aortic valve area index, by peak velocity',
    'AVAi (Vmax)',
    [ln('79957-7', 'Aortic valve area (Continuity Vmax) / BSA')],
  ),
  'velocity-index': plainRatio('Dimensionless velocity index, by VTI', 'DVI', [
    own('dimensionless-velocity-index'),
  ]),
  'ar-half-time': interval('AR pressure half-time', 'AR PHT', [
    ln('79947-8', 'Aortic regurgitation pressure half-time'),
  ]),
  'ar-vena-contracta': quantityIn('echo', 'cm', 2)('AR vena contracta', 'AR VC', [
    ln('79948-6', 'Aortic regurgitation vena contracta width'),
  ]),
  'ar-jet-width': fraction('AR jet width over LVOT', 'AR jet/LVOT', [
    ln('79944-5', 'Aortic regurgitant jet width/LVOT width %'),
  ]),
  'ar-orifice': orifice('AR effective regurgitant orifice area', 'AR EROA', [
    ln('79960-1', 'Aortic valve effective regurgitant orifice area'),
  ]),
  'ar-volume': volume('AR regurgitant volume', 'AR RVol', [
    ln('79951-0', 'Aortic regurgitation volume (PISA)'),
  ]),
  'ar-fraction': fraction('AR regurgitant fraction', 'AR RF', [
    ln('79942-9', 'Aortic regurgitant fraction'),
  ]),
  'ar-vmax': velocity('AR peak velocity', 'AR Vmax', [ln('79949-4', 'Aortic regurgitation Vmax')]),
} as const satisfies Record<string, MeasurementConcept>;

/** Quantities of no structure, or of an annulus or flow that the image header does not name. */
export const UNPLACED = {
  'body-surface-area': quantityIn('echo', 'm2', 2)('Body surface area', 'BSA', [
    ln('8277-6', 'Body Surface Area'),
  ]),
  's-prime-unnamed': tissueVelocity("S' of an unnamed wall", "S'", [own('annular-s-prime')]),
  'e-prime-unnamed': tissueVelocity("e' of an unnamed wall", "e'", [own('annular-e-prime')]),
  'a-prime-unnamed': tissueVelocity("a' of an unnamed wall", "a'", [own('annular-a-prime')]),
  'flow-peak-unnamed': quantityIn('echo', 'm/s', 2)('Peak velocity of an unnamed flow', 'Vmax', [
    own('unnamed-flow-peak'),
  ]),
  'annular-excursion-unnamed': millimetres(
    'Systolic excursion of an unnamed annulus',
    'excursion',
    [own('annular-systolic-excursion')],
  ),
} as const satisfies Record<string, MeasurementConcept>;
