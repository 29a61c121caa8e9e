import { circleArea, strokeVolume } from './doppler.ts';

/** Continuity equation, cm2: by VTI (cm) or by peak velocity (m/s) of both sites (AS17). */
export const continuityArea = (diameter: number, proximal: number, distal: number) =>
  (circleArea(diameter) * proximal) / distal;

/** Valvulo-arterial impedance, mmHg/ml/m2. */
export const valvuloArterialImpedance = (systolic: number, gradient: number, svi: number) =>
  (systolic + gradient) / svi;

/** Transvalvular flow, ml/s; ejection time in ms. */
export const flowRate = (stroke: number, ejectionTime: number) => (1000 * stroke) / ejectionTime;

/** Flow through the proximal isovelocity surface, ml/s; radius in cm, aliasing velocity in cm/s. */
export const pisaFlow = (radius: number, alias: number) => 2 * Math.PI * radius ** 2 * alias;

/** Effective regurgitant orifice area, cm2; peak velocity in cm/s. */
export const pisaOrifice = (radius: number, alias: number, peak: number) =>
  pisaFlow(radius, alias) / peak;

/** cm2; holds for an aliasing velocity of 40 cm/s and a jet of 5 m/s alone. */
export const simplifiedMitralOrifice = (radius: number) => radius ** 2 / 2;

export const regurgitantVolume = (orifice: number, vti: number) => orifice * vti;

export const regurgitantFraction = (volume: number, total: number) => (100 * volume) / total;

export interface FlowSite {
  /** cm */
  diameter: number;
  /** cm */
  vti: number;
}

/** Mitral regurgitant volume, ml: mitral minus outflow stroke volume, without AR. */
export const volumetricRegurgitation = (mitral: FlowSite, outflow: FlowSite) =>
  strokeVolume(mitral.diameter, mitral.vti) - strokeVolume(outflow.diameter, outflow.vti);

/** cm2 of ms. */
export const mitralAreaByHalfTime = (halfTime: number) => 220 / halfTime;
export const mitralAreaByDeceleration = (decelerationTime: number) => 759 / decelerationTime;
/** Less validated (VS09). */
export const tricuspidAreaByHalfTime = (halfTime: number) => 190 / halfTime;
