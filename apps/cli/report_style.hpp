// Style sheet and script of the report, inlined into its one page. Colours are custom properties,
// set once for light and once for dark; charts and pictures only name them.
#pragma once

namespace tamis::cli::report {

// Series colours follow Okabe and Ito's colour-blind safe set, darkened for paper and lightened for
// dark so that each keeps a contrast of 3 to 1 or better with its background.
inline constexpr const char* kLightColours =
    "--paper:#fbfaf7;--card:#fff;--ink:#1c2127;--soft:#59626c;--rule:#dfdcd5;--grid:#e8e5df;"
    "--accent:#0b6470;--good:#0a6b4c;--bad:#b3261e;--s1:#0069a8;--s2:#c24e06;--s3:#00795a;"
    "--fill-a:#e4e1da;--fill-b:#cbc7be;--p0:#0b6470;--p1:#d98a2b;--p2:#6a8fc0;--p3:#7d5a8c;"
    "--p4:#5d9d78;--p5:#b5605a;--p6:#8c8a83;--p7:#b9b6ae;color-scheme:light;";
inline constexpr const char* kDarkColours =
    "--paper:#121518;--card:#1a1e22;--ink:#e9ebed;--soft:#a4adb6;--rule:#30363c;--grid:#2a3036;"
    "--accent:#5fc6d2;--good:#58cf9f;--bad:#ff8a80;--s1:#5bb6ee;--s2:#f39a57;--s3:#43cfa2;"
    "--fill-a:#2c3238;--fill-b:#434a52;--p0:#4fb3bf;--p1:#e5a552;--p2:#8fb2e0;--p3:#b394c4;"
    "--p4:#7fc29c;--p5:#da8c86;--p6:#a19f98;--p7:#6f6d68;color-scheme:dark;";

inline constexpr const char* kStyle = R"css(
*{box-sizing:border-box}
[hidden]{display:none!important}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);
  font:16px/1.55 ui-sans-serif,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
  font-variant-numeric:tabular-nums lining-nums}
main,header,footer{max-width:1180px;margin:0 auto;padding:0 28px}
header{padding-top:26px}
.brand{display:flex;align-items:center;gap:10px;font-size:14px;color:var(--soft);
  padding-bottom:14px;border-bottom:1px solid var(--rule)}
.brand svg{width:22px;height:22px;fill:var(--accent);flex:none}
.brand b{color:var(--ink);letter-spacing:.01em}
.brand button{margin-left:auto}
button{font:inherit;font-size:13px;color:var(--soft);background:none;border:1px solid var(--rule);
  border-radius:6px;padding:4px 11px;cursor:pointer}
button:hover{color:var(--ink);border-color:var(--soft)}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
h1,h2{font-family:Charter,"Iowan Old Style","Palatino Linotype",Palatino,P052,Georgia,
  "Liberation Serif",serif;font-weight:600;line-height:1.15;letter-spacing:-.008em}
h1{font-size:clamp(30px,5.2vw,50px);margin:38px 0 8px;overflow-wrap:anywhere}
.subject{margin:0;color:var(--soft);font-size:17px}
.subject span{display:inline-block}
.subject span:not(:last-child)::after{content:"·";padding:0 .55em}
section{margin-top:62px}
.headline{margin-top:30px}
h2{font-size:27px;margin:0 0 14px}
h3{font-size:15px;font-weight:600;margin:26px 0 4px}
p{margin:0 0 14px}
.notes{color:var(--soft);font-size:14.5px;max-width:84ch}
.soft,td.soft{color:var(--soft)}
.verdict{display:flex;gap:11px;align-items:baseline;font-size:19px;margin:0 0 24px}
.verdict .tick{flex:none;align-self:flex-start;margin-top:.14em;width:1.35em;height:1.35em;
  border-radius:50%;background:var(--good);color:var(--paper);font-size:.82em;line-height:1.35em;
  text-align:center}
.verdict.bad{color:var(--bad)}
.verdict.bad .tick{background:var(--bad)}
.tiles{display:grid;grid-template-columns:repeat(5,1fr);margin:0;background:var(--card);
  border:1px solid var(--rule);border-radius:12px;overflow:hidden}
.tile{padding:18px 20px 17px;box-shadow:-1px -1px 0 var(--rule)}
.tile dt{font-size:13px;color:var(--soft)}
.tile dd{margin:5px 0 0}
.big{font-size:35px;font-weight:600;line-height:1.1;letter-spacing:-.022em}
.tile .unit{font-size:17px;color:var(--soft);margin-left:4px}
.tile .detail{display:block;margin-top:6px;font-size:13.5px;color:var(--soft)}
.gauge{display:block;height:4px;border-radius:2px;background:var(--grid);overflow:hidden}
.gauge i{display:block;height:100%;background:var(--accent);border-radius:2px}
.detail .gauge{margin:9px 0 7px}
figure{margin:0}
figcaption{font-weight:600;font-size:15px;margin-bottom:7px}
.pictures{display:grid;grid-template-columns:repeat(3,minmax(0,1fr));gap:22px;margin-bottom:16px}
.frame{position:relative;overflow:hidden;border-radius:5px;cursor:zoom-in;
  outline:1px solid var(--rule)}
.frame.near{cursor:zoom-out}
.frame img{position:absolute;inset:0;width:100%;height:100%;display:block;
  transform-origin:var(--zx,50%) var(--zy,50%);transform:scale(var(--zoom,1))}
.frame img.crisp,.frame.near img{image-rendering:pixelated}
.hatch{background:repeating-linear-gradient(45deg,var(--fill-a) 0 4px,var(--fill-b) 4px 5.5px);
  print-color-adjust:exact;-webkit-print-color-adjust:exact}
.swatch{display:inline-block;width:22px;height:13px;border-radius:2px;vertical-align:-1.5px;
  margin-right:7px}
.bar{padding:11px 6px 0}
.ramp{height:10px;border-radius:2px;print-color-adjust:exact;-webkit-print-color-adjust:exact}
.ramp.low{clip-path:polygon(0 50%,9px 0,100% 0,100% 100%,9px 100%)}
.ramp.high{clip-path:polygon(0 0,calc(100% - 9px) 0,100% 50%,calc(100% - 9px) 100%,0 100%)}
.ramp.low.high{clip-path:polygon(0 50%,9px 0,calc(100% - 9px) 0,100% 50%,calc(100% - 9px) 100%,
  9px 100%)}
.ticks{position:relative;height:23px;font-size:12.5px}
.ticks span{position:absolute;top:5px;transform:translateX(-50%);white-space:nowrap;
  line-height:17px}
.ticks span::before{content:"";position:absolute;left:50%;top:-5px;height:4px;
  border-left:1px solid var(--soft)}
.ticks span[style="left:0.00%"]{transform:none;left:0}
.ticks span[style="left:0.00%"]::before{left:0}
.ticks span[style="left:100.00%"]{transform:translateX(-100%)}
.ticks span[style="left:100.00%"]::before{left:calc(100% - 1px)}
.of{font-size:12.5px;color:var(--soft);text-align:center}
.slider{display:flex;align-items:center;gap:14px;margin:0 0 18px;font-size:14.5px;
  color:var(--soft)}
.slider input{flex:0 1 300px;min-width:80px;accent-color:var(--accent)}
output,code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;
  font-size:.93em}
output{color:var(--ink);white-space:nowrap}
.chart{display:block;width:100%;height:auto;overflow:visible;font-size:12.5px}
.chart text{fill:var(--soft)}
.chart .title{fill:var(--ink)}
.chart .note{font-size:12px}
.grid{stroke:var(--grid);stroke-width:1}
.grid.minor{opacity:.55}
.axis{stroke:var(--soft);stroke-width:1}
.s1{--c:var(--s1)}.s2{--c:var(--s2)}.s3{--c:var(--s3)}.here{--c:var(--ink)}
.series{fill:none;stroke:var(--c);stroke-width:2;stroke-linejoin:round}
.mark>*,.key>*{fill:var(--c);stroke:var(--paper);stroke-width:1.2}
.mark .ring,.key .ring{fill:none;stroke:var(--c);stroke-width:1.8}
.mark:hover>*{stroke:var(--ink)}
.key{vertical-align:-4.5px;margin:0 4px 0 -5px}
.column{fill:var(--s1)}
.column:hover{fill:var(--s2)}
.column.beyond{fill:var(--bad)}
.limit{stroke:var(--ink);stroke-width:1.3;stroke-dasharray:5 4}
.original{fill:none;stroke:var(--s1);stroke-width:4.5;opacity:.38;stroke-linejoin:round}
.original-band{fill:var(--s1);opacity:.3;stroke:var(--s1);stroke-width:.8}
.decoded{fill:none;stroke:var(--s2);stroke-width:1.5;stroke-linejoin:round}
.decoded.thin{stroke-width:.9}
.error-band{fill:var(--soft);stroke:var(--soft);stroke-width:.8;opacity:.75}
.stem{fill:var(--soft)}
.masked{fill:var(--fill-b);opacity:.6}
.legend{display:flex;flex-wrap:wrap;gap:4px 24px;margin:0 0 14px;font-size:14.5px}
.sample{display:inline-block;width:26px;margin-right:8px;vertical-align:middle}
.sample.original{height:6px;background:var(--s1);opacity:.42;border-radius:2px}
.sample.decoded{height:2px;background:var(--s2)}
.two{display:grid;grid-template-columns:minmax(0,580fr) minmax(0,440fr);gap:34px}
.two.wide-left{grid-template-columns:minmax(0,620fr) minmax(0,420fr);align-items:center}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:14.5px}
th{font-weight:400;text-align:left}
thead th{color:var(--soft);font-size:13px;padding-bottom:6px}
td,th{padding:6px 0 6px 14px}
td:first-child,th:first-child{padding-left:0}
.n{text-align:right;white-space:nowrap}
tbody tr,tfoot tr:first-child{border-top:1px solid var(--grid)}
tbody:not(:first-of-type) tr:first-child,tbody:first-of-type tr:first-child,
tfoot tr:first-child{border-top:1px solid var(--rule)}
.shares th{white-space:nowrap}
.meter{width:34%}
.figures{min-width:760px}
.figures thead th:first-child{width:5.5em}
.figures tbody th{vertical-align:top;font-weight:600}
details{margin-top:22px}
summary{cursor:pointer;font-weight:600;font-size:15px;margin-bottom:12px}
.stack{display:flex;gap:2px;height:14px;border-radius:4px;overflow:hidden;margin-bottom:14px;
  print-color-adjust:exact;-webkit-print-color-adjust:exact}
.stack i{min-width:2px}
.p0{background:var(--p0)}.p1{background:var(--p1)}.p2{background:var(--p2)}
.p3{background:var(--p3)}.p4{background:var(--p4)}.p5{background:var(--p5)}
.p6{background:var(--p6)}.p7{background:var(--p7)}
.parts{list-style:none;margin:0 0 30px;padding:0;display:flex;flex-wrap:wrap;gap:8px 30px;
  font-size:14.5px}
.parts li{display:flex;align-items:baseline;gap:8px}
.parts i{width:11px;height:11px;border-radius:2px;align-self:center}
.parts b{font-weight:600}
.parts em{font-style:normal;color:var(--soft)}
.facts{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));column-gap:48px;margin:0;
  font-size:14.5px}
.facts div{display:flex;justify-content:space-between;gap:18px;padding:7px 0;
  border-top:1px solid var(--grid)}
.facts dt{color:var(--soft)}
.facts dd{margin:0;text-align:right;overflow-wrap:anywhere}
.command{display:flex;align-items:flex-start;gap:14px;background:var(--card);
  border:1px solid var(--rule);border-radius:10px;padding:14px 16px}
pre{margin:0;flex:1;white-space:pre-wrap;overflow-wrap:anywhere;line-height:1.6}
footer{margin-top:64px;padding-top:18px;padding-bottom:40px;font-size:13px;color:var(--soft)}
footer p{border-top:1px solid var(--rule);padding-top:16px;margin:0}
@media (max-width:1020px){.tiles{grid-template-columns:repeat(6,1fr)}
  .tile{grid-column:span 2}.tile:nth-child(n+4){grid-column:span 3}}
@media (max-width:860px){.two,.two.wide-left{grid-template-columns:minmax(0,1fr)}}
@media (max-width:680px){main,header,footer{padding-left:18px;padding-right:18px}
  section{margin-top:48px}.pictures{grid-template-columns:minmax(0,1fr);gap:28px}
  .facts{grid-template-columns:minmax(0,1fr)}.tiles{grid-template-columns:repeat(2,1fr)}
  .tile,.tile:nth-child(n+4){grid-column:auto;padding:15px 16px}
  .tile:first-child{grid-column:span 2}.big{font-size:30px}
  .chart{font-size:17px}.chart .note{font-size:16px}.scroll .chart{min-width:640px;font-size:15px}
  .slider{flex-wrap:wrap}.command{flex-direction:column}.verdict{font-size:17px}}
@media print{body{background:none}.screen,.brand button,.slider input{display:none!important}body{font-size:11pt}
  section,figure,.tiles{break-inside:avoid}section{margin-top:32px}
  main,header,footer{max-width:none;padding:0}.tiles{grid-template-columns:repeat(5,1fr)}
  .tile,.tile:nth-child(n+4){grid-column:auto;padding:10px 12px}.big{font-size:22pt}
  .column,.gauge i,.stem{print-color-adjust:exact;-webkit-print-color-adjust:exact}
  .pictures{grid-template-columns:repeat(3,minmax(0,1fr))}#curves{break-inside:auto}.chart{font-size:16px}.chart .note{font-size:15px}
  .two,.two.wide-left{grid-template-columns:minmax(0,580fr) minmax(0,440fr);gap:22px}
  .figures{min-width:0;font-size:9pt}}
)css";

// Everything works without it except the slider, looking closer, and the theme button.
inline constexpr const char* kScript = R"js(
(function(){
var root=document.documentElement,button=document.getElementById('theme'),d=document;
function show(t){if(t)root.setAttribute('data-theme',t);else root.removeAttribute('data-theme');}
function dark(){return root.getAttribute('data-theme')?root.getAttribute('data-theme')==='dark':
  window.matchMedia('(prefers-color-scheme: dark)').matches;}
function label(){button.textContent=dark()?'Light':'Dark';
  button.setAttribute('aria-label','Switch to '+(dark()?'light':'dark')+' colours');}
function hash(){var h=location.hash.slice(1);if(h==='dark'||h==='light')show(h);label();}
button.hidden=false;
button.addEventListener('click',function(){show(dark()?'light':'dark');label();});
window.addEventListener('hashchange',hash);hash();
var slice=d.getElementById('slice'),frames=[].slice.call(d.querySelectorAll('.frame'));
if(slice){var names=slice.getAttribute('data-labels').split('|');
  slice.addEventListener('input',function(){
    d.getElementById('slice-label').textContent=names[+slice.value];
    frames.forEach(function(f){[].forEach.call(f.children,function(img,k){
      img.hidden=k!==+slice.value;});});});}
var near=1;
frames.forEach(function(f){f.addEventListener('click',function(e){
  var box=f.getBoundingClientRect();near=near===1?4:1;
  frames.forEach(function(g){g.classList.toggle('near',near>1);
    g.style.setProperty('--zoom',near);
    if(near>1){g.style.setProperty('--zx',100*(e.clientX-box.left)/box.width+'%');
      g.style.setProperty('--zy',100*(e.clientY-box.top)/box.height+'%');}});});});
var copy=d.getElementById('copy');
if(copy)copy.addEventListener('click',function(){
  var text=d.getElementById('command').textContent;
  function done(){copy.textContent='Copied';setTimeout(function(){copy.textContent='Copy';},1500);}
  if(navigator.clipboard&&window.isSecureContext){navigator.clipboard.writeText(text).then(done);}
  else{var r=d.createRange();r.selectNodeContents(d.getElementById('command'));
    var s=getSelection();s.removeAllRanges();s.addRange(r);
    if(d.execCommand&&d.execCommand('copy'))done();}});
window.addEventListener('beforeprint',function(){
  [].forEach.call(d.querySelectorAll('details'),function(x){x.open=true;});});
})();
)js";

}  // namespace tamis::cli::report
