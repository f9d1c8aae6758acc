# Run as a script: cmake -DFOLDER=folder -DOUTPUT=file -P embed.cmake
# Makes a table FILE("nn.astra", "text") of the .astra files of a folder.
file(GLOB files "${FOLDER}/*.astra")
list(SORT files)
set(table "")
foreach(file IN LISTS files)
  get_filename_component(name "${file}" NAME)
  file(READ "${file}" text)
  string(APPEND table "FILE(\"${name}\", R\"ASTRAFILE(${text})ASTRAFILE\")\n")
endforeach()
file(WRITE "${OUTPUT}" "${table}")
