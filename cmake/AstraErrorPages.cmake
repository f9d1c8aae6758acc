# Run as a script: cmake -DPAGES=folder -DOUTPUT=file -P AstraErrorPages.cmake
# Makes a table PAGE(code, "text") of all docs/errors/<code>.md, in order of codes.
file(GLOB pages "${PAGES}/E*.md")
list(SORT pages)
set(table "")
foreach(page IN LISTS pages)
  get_filename_component(code "${page}" NAME_WE)
  file(READ "${page}" text)
  string(APPEND table "PAGE(${code}, R\"ASTRAPAGE(${text})ASTRAPAGE\")\n")
endforeach()
file(WRITE "${OUTPUT}" "${table}")
