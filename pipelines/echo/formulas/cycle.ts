/** 0-based frame that is shown at a time: floor(t / frame time), both in ms (reference 4.3). */
export const frameAt = (time: number, frameTime: number) => Math.floor(time / frameTime);
