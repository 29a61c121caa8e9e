import type { PixelScale } from '../../contract/image.ts';
import {
  type ChamberAxis,
  chamberAxis,
  directionsOf,
  discDiameters,
  onAxis,
} from '../../measure/chamber.ts';
import { areaOf, chordLength, inMillimetres, type Outline } from '../../measure/outline.ts';
import { biplaneDiscVolume, discVolume } from '../formulas/chambers.ts';
import type { ChamberFrame } from './clip.ts';

/** One chamber of one frame, in millimetres (in pixels where the picture has no scale). */
interface ChamberFigure {
  outline: Outline;
  area: number;
  /** Null where its valve plane was not found: only the area is known then. */
  axis: ChamberAxis | null;
}

/** A chamber with its axis, from which length, diameters and volume follow. */
export type AxialFigure = ChamberFigure & { axis: ChamberAxis };

export interface FrameGeometry {
  /** 0-based. */
  frame: number;
  time: number;
  lv: AxialFigure;
  muscle: Outline | null;
  la: ChamberFigure | null;
  rv: ChamberFigure | null;
  ra: ChamberFigure | null;
}

const SQUARE: PixelScale = { x: 1, y: 1 };

/**
 * The chambers of one frame; null where the ventricle has a fault or no valve plane. Without a
 * scale the pixels are taken as square: ratios hold, sizes do not.
 */
export function frameGeometry(
  { frame, time, outlines, faults }: ChamberFrame,
  scale: PixelScale | null,
): FrameGeometry | null {
  if (faults.length > 0) return null;
  const figure = (outline: ChamberFrame['outlines']['lv']) =>
    outline ? inMillimetres(outline, scale ?? SQUARE) : null;
  const [lv, muscle, la] = [figure(outlines.lv), figure(outlines.myocardium), figure(outlines.la)];
  const [rv, ra] = [figure(outlines.rv), figure(outlines.ra)];
  const axis = lv && chamberAxis(lv, { across: la, wall: muscle });
  if (!lv || !axis) return null;
  const behind = (outline: Outline | null, across: Outline | null): ChamberFigure | null =>
    outline && {
      outline,
      area: areaOf(outline),
      axis: across && chamberAxis(outline, { across, wall: null }),
    };
  return {
    frame,
    time,
    lv: { outline: lv, area: areaOf(lv), axis },
    muscle,
    la: behind(la, lv),
    rv: behind(rv, ra),
    ra: behind(ra, rv),
  };
}

/** A chamber whose axis was found; null otherwise. */
export function axial(figure: ChamberFigure | null): AxialFigure | null {
  return figure?.axis ? { ...figure, axis: figure.axis } : null;
}

const CENTIMETRE = 10;

/** Diameters of the discs and the length, cm, as the formulas take them. */
function discsInCentimetres({ outline, axis }: AxialFigure) {
  return {
    diameters: discDiameters(outline, axis).map((mm) => mm / CENTIMETRE),
    length: axis.length / CENTIMETRE,
  };
}

const PROBES = 12;

/** The widest cut across the axis between two shares of it (0 at the valve), and where it is. */
export function widest(
  { outline, axis }: AxialFigure,
  [from, to]: readonly [number, number],
): { width: number; share: number } {
  const { across } = directionsOf(axis);
  return Array.from({ length: PROBES + 1 }, (_, i) => from + (i / PROBES) * (to - from)).reduce(
    (best, share) => {
      const width = chordLength(outline, onAxis(axis, share), across);
      return width > best.width ? { width, share } : best;
    },
    { width: 0, share: from },
  );
}

/** Basal third of a ventricle, short of the valve plane itself, where an outline is rounded. */
export const BASAL_THIRD = [0.05, 1 / 3] as const;

/** Which chamber of a frame is summed. */
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
 * of both lengths (echo 4.2).
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

/** The ventricle of a frame as strain and wall motion are measured on it. */
export const ventricleFigure = ({ lv, muscle }: FrameGeometry) => ({
  outline: lv.outline,
  axis: lv.axis,
  muscle,
});
