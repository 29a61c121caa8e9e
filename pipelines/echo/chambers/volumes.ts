import { biplaneDiscVolume, discVolume } from '../formulas/chambers.ts';
import {
  type AxialFigure,
  axial,
  discsInCentimetres,
  type FrameGeometry,
} from './frame-geometry.ts';

/** A chamber of a frame: that of the frame's phase which is summed. */
export type ChamberOf = (frame: FrameGeometry) => AxialFigure | null;

export const leftVentricle: ChamberOf = ({ lv }) => lv;
export const leftAtrium: ChamberOf = ({ la }) => axial(la);

/** Volume of one plane by discs, ml (cubic pixels over a thousand without a scale). */
export function planeVolume(figure: AxialFigure | null): number | null {
  if (!figure) return null;
  const { diameters, length } = discsInCentimetres(figure);
  return discVolume(diameters, length);
}

/**
 * Biplane volume, ml: the discs of each view along its own axis, paired by number, over the longer
 * of both lengths (echo reference 4.2).
 */
export function biplaneVolume(
  fourChamber: AxialFigure | null,
  twoChamber: AxialFigure | null,
): number | null {
  if (!fourChamber || !twoChamber) return null;
  const [four, two] = [discsInCentimetres(fourChamber), discsInCentimetres(twoChamber)];
  const length = Math.max(four.length, two.length);
  return biplaneDiscVolume(four.diameters, two.diameters, length);
}

/** Views whose lengths differ by more of the longer are perhaps foreshortened (reference 4.2). */
const LENGTH_DIFFERENCE = 0.1;

/** Whether the long axes of two views are too unequal to be of one ventricle. */
export function unequalLengths(one: number, other: number): boolean {
  const longer = Math.max(one, other);
  return (longer - Math.min(one, other)) / longer > LENGTH_DIFFERENCE + 1e-9;
}

/** End-diastolic volumes of two views that differ by more call for a remark (reference 4.6). */
const VOLUME_DIFFERENCE = 0.25;

export function unequalVolumes(one: number, other: number): boolean {
  const larger = Math.max(one, other);
  return (larger - Math.min(one, other)) / larger > VOLUME_DIFFERENCE + 1e-9;
}
