export default [["x", () => { for (const n of ["URL","console","Buffer","process","Bun","fetch","setTimeout"]) if (!globalThis[n] && n!=="Bun") throw new Error(n); }]];
